import java.io.ObjectStreamClass;

/** Which version of their serial form classes have: drivers and executors must agree on it, traced or not. */
public final class SerialForm {
    private SerialForm() {
    }

    public static void main(String[] names) throws ClassNotFoundException {
        for (String name : names) {
            Class<?> type = Class.forName(name, false, SerialForm.class.getClassLoader());
            System.out.println(name + " " + ObjectStreamClass.lookupAny(type).getSerialVersionUID() + " "
                    + type.getDeclaredFields().length);
        }
    }
}
