package io.plumbline.load;

/** Why a run ended, in the order that results number them. */
enum StopReason {
    DONE("the plan is done"), INTERRUPTED("it was interrupted"), ERRORS("too many operations failed"), LAG(
            "operations began too late"),
    RESULT("the result could not be written"), LATENCY("the p99 was too long for ten seconds"),
    BYTES("--max-bytes are read and written"), SPACE(
            "HDFS has less than --min-free left");

    final String text;

    StopReason(String text) {
        this.text = text;
    }
}
