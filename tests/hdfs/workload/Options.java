/** Command line of {@link Workload}. */
final class Options {
    int rounds = 1;
    int threads = 1;
    int seconds = 0;
    int size = 1_500_000;
    long seed = 1;
    int drainSeconds = 60;
    boolean progress;
    boolean htrace;

    Options(String[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            if (arguments[i].equals("--progress")) {
                progress = true;
            } else if (arguments[i].equals("--htrace")) {
                htrace = true;
            } else if (i + 1 < arguments.length) {
                set(arguments[i], Integer.parseInt(arguments[++i]));
            } else {
                throw new IllegalArgumentException(arguments[i] + " needs a number");
            }
        }
    }

    private void set(String name, int value) {
        switch (name) {
            case "--rounds":
                rounds = value;
                break;
            case "--threads":
                threads = value;
                break;
            case "--seconds":
                seconds = value;
                break;
            case "--size":
                size = value;
                break;
            case "--seed":
                seed = value;
                break;
            case "--drain-seconds":
                drainSeconds = value;
                break;
            default:
                throw new IllegalArgumentException("unknown option " + name);
        }
    }
}
