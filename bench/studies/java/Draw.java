import io.plumbline.trace.sampling.Policy;
import io.plumbline.trace.sampling.PolicyInForce;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What the agent's own sampling says of roots that come at given times: Draw DRAWS POLICY..., with a line "nanos
 * function" for each root, in their order, on standard input. Prints for each policy and draw the roots that it takes,
 * one line of 0 and 1. Each draw has a generator of its own, seeded by its number.
 */
public final class Draw {
    private long now;

    public static void main(String[] arguments) throws IOException {
        new Draw().run(arguments);
    }

    private void run(String[] arguments) throws IOException {
        List<Long> times = new ArrayList<>();
        List<String> functions = new ArrayList<>();
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                int space = line.indexOf(' ');
                times.add(Long.parseLong(line.substring(0, space)));
                functions.add(line.substring(space + 1));
            }
        }
        try (PrintStream out = new PrintStream(System.out, false, "UTF-8")) {
            for (int i = 1; i < arguments.length; i++) {
                for (int draw = 0; draw < Integer.parseInt(arguments[0]); draw++) {
                    out.println(one(Policy.parse(arguments[i]), draw, times, functions));
                }
            }
        }
    }

    private String one(Policy policy, int draw, List<Long> times, List<String> functions) {
        SplittableRandom random = new SplittableRandom(draw + 1);
        now = times.isEmpty() ? 0 : times.get(0);
        PolicyInForce force = new PolicyInForce(policy, () -> now, random::nextLong);
        StringBuilder said = new StringBuilder();
        for (int i = 0; i < times.size(); i++) {
            now = times.get(i);
            said.append(force.decider(functions.get(i)).yes() ? '1' : '0');
        }
        return said.toString();
    }
}
