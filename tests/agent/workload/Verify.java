import java.io.BufferedReader;
import java.io.InputStreamReader;

/**
 * Links each class whose name is a line of the input, which verifies its code; prints those that fail and the reason.
 */
public final class Verify {
    private Verify() {
    }

    public static void main(String[] arguments) throws Exception {
        BufferedReader names = new BufferedReader(new InputStreamReader(System.in));
        for (String name = names.readLine(); name != null; name = names.readLine()) {
            try {
                Class.forName(name, false, ClassLoader.getSystemClassLoader()).getDeclaredMethods();
            } catch (ClassNotFoundException | LinkageError e) {
                System.out.println(name + ": " + e);
            }
        }
    }
}
