"""Which lines of the agent's list mean something in which version of Hadoop, and why not in all of them."""

from collections import namedtuple

# As `java -jar plumb-agent.jar report` names a line. From and to are versions, both included; None: open.
Line = namedtuple("Line", "first last why")

DIFFERENCES = {
    # Erasure coding came with Hadoop 3.
    "DFSStripedInputStream readWithStrategy(ReaderStrategy)": Line("3.0", None, "erasure coding"),
    "DFSStripedInputStream readOneStripe(..)": Line("3.0", None, "erasure coding"),
    "DFSStripedInputStream fetchBlockByteRange(..)": Line("3.0", None, "erasure coding"),
    "StripeReader readStripe()": Line("3.0", None, "erasure coding"),
    "StripeReader readChunk(LocatedBlock, int)": Line("3.0", None, "erasure coding"),
    "StripeReader carry readCells(..) -> return": Line("3.0", None, "erasure coding"),
    "StripeReader readToBuffer(..)": Line("3.0", None, "erasure coding"),
    "StatefulStripeReader decode()": Line("3.0", None, "erasure coding"),
    "PositionStripeReader decode()": Line("3.0", None, "erasure coding"),
    "DFSStripedOutputStream allocateNewBlock()": Line("3.0", None, "erasure coding"),
    "DFSStripedOutputStream writeParityCells()": Line("3.0", None, "erasure coding"),
    "DFSStripedOutputStream flushAllInternals()": Line("3.0", None, "erasure coding"),
    "DFSStripedOutputStream$1 carry <init>(..) -> call()": Line("3.0", None, "erasure coding"),
    "DataXceiver blockGroupChecksum(..)": Line("3.0", None, "erasure coding"),
    "BlockRecoveryWorker$RecoveryTaskStriped recover()": Line("3.0", None, "erasure coding"),
    "StripedBlockReconstructor carry <init>(..) -> run()": Line("3.0", None, "erasure coding"),
    "StripedBlockReconstructor reconstructTargets(int)": Line("3.0", None, "erasure coding"),
    "StripedReader readMinimumSources(int)": Line("3.0", None, "erasure coding"),
    "StripedBlockReader$1 carry <init>(..) -> call()": Line("3.0", None, "erasure coding"),
    "StripedBlockWriter transferData2Target(byte[])": Line("3.0", None, "erasure coding"),
    # One function, two forms of it: the same span.
    "DFSInputStream readWithStrategy(ReaderStrategy)": Line("3.0", None, "the strategy knows where to read to"),
    "DFSInputStream readWithStrategy(ReaderStrategy, int, int)": Line(None, "2.10", "given offset and length"),
    "BlockReaderRemote newBlockReader(String, ExtendedBlock, Token, long, long, boolean, ..)": Line(
        "3.0", None, "BlockReaderRemote2 in Hadoop 2"
    ),
    "BlockReaderRemote readNextPacket()": Line("3.0", None, "BlockReaderRemote2 in Hadoop 2"),
    "BlockReaderRemote2 newBlockReader(String, ExtendedBlock, Token, long, long, boolean, ..)": Line(
        None, "2.10", "BlockReaderRemote in Hadoop 3"
    ),
    "BlockReaderRemote2 readFully(byte[], int, int)": Line(None, "2.10", "BlockReaderRemote in Hadoop 3"),
    "BlockReaderRemote2 readAll(byte[], int, int)": Line(None, "2.10", "BlockReaderRemote in Hadoop 3"),
    "BlockReaderRemote2 readNextPacket()": Line(None, "2.10", "BlockReaderRemote in Hadoop 3"),
    "DataStreamer nextBlockOutputStream()": Line(None, "3.3", "setupPipelineForCreate in later ones"),
    "DataStreamer within locateFollowingBlock(..) sleep(long)": Line(None, "2.10", "in DFSOutputStream in Hadoop 3"),
    "DFSOutputStream within addBlock(..) sleep(long)": Line("3.0", None, "in DataStreamer in Hadoop 2"),
    "DataStreamer setupPipelineForCreate()": Line("3.4", None, "nextBlockOutputStream in earlier ones"),
    "FSNamesystem updateBlockForPipeline(ExtendedBlock, ..)": Line(
        None, "2.10", "bumpBlockGenerationStamp in Hadoop 3"
    ),
    "FSNamesystem bumpBlockGenerationStamp(ExtendedBlock, ..)": Line("3.0", None, "updateBlockForPipeline in Hadoop 2"),
    # An older reader of Hadoop 2, used when dfs.client.use.legacy.blockreader says so.
    "BlockReaderRemote newBlockReader(String, ExtendedBlock, Token, long, long, int, boolean, ..)": Line(
        None, "2.10", "the older reader"
    ),
    "BlockReaderRemote readChunk(..)": Line(None, "2.10", "the older reader"),
    # Blocks of deleted files are removed later, by a thread of its own.
    "FSNamesystem removeBlocks(BlocksMapUpdateInfo)": Line(None, "3.3.1", "asynchronous deletion"),
    "BlockManager addBLocksToMarkedDeleteQueue(List)": Line("3.3.2", None, "asynchronous deletion"),
    "BlockManager$MarkedDeleteBlockScrubber remove(long)": Line("3.3.2", None, "asynchronous deletion"),
}
# From one line to another: a version that has a method, lost it and has it again.
NEITHER = {
    "DFSInputStream read(long, ByteBuffer)": ({"3.0.3", "3.1.0", "3.2.4"}, "positioned reads into a ByteBuffer"),
}


def _number(version):
    return tuple(int(part) for part in version.split("."))


def expected(line, version):
    """Does this line mean something in that version?"""
    if line in NEITHER:
        return version not in NEITHER[line][0]
    first, last, _ = DIFFERENCES.get(line, Line(None, None, ""))
    number = _number(version)
    return (first is None or number >= _number(first)) and (
        last is None or number[: len(_number(last))] <= _number(last)
    )
