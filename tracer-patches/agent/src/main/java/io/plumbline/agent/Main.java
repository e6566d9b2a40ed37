package io.plumbline.agent;

/** {@code java -jar plumb-agent.jar}. */
public final class Main {
    private Main() {
    }

    public static void main(String[] arguments) {
        System.exit(2);
    }
}
