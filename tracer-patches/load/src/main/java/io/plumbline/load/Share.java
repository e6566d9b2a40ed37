package io.plumbline.load;

/**
 * Which part of a plan one of several hosts carries out: the simulated clients whose number leaves this rest. So the
 * parts of any number of hosts together are the plan, each operation once.
 */
final class Share {
    static final Share ALL = new Share(1, 1);

    /** From 1 on. */
    final int number;
    final int of;

    Share(int number, int of) {
        this.number = number;
        this.of = of;
    }

    /** Of "2/3", which plumb has checked. */
    static Share parse(String text) {
        int slash = text.indexOf('/');
        return new Share(Integer.parseInt(text.substring(0, slash)), Integer.parseInt(text.substring(slash + 1)));
    }

    boolean alone() {
        return of == 1;
    }

    boolean leads() {
        return number == 1;
    }

    /** @param which the number of a client, or of a file that is made before the load */
    boolean takes(int which) {
        return which % of == number - 1;
    }

    @Override
    public String toString() {
        return number + "/" + of;
    }
}
