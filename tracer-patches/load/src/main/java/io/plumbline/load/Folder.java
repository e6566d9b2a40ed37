package io.plumbline.load;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;

/**
 * The folder that the load works in. A mark in it says that it is one of ours; only names that we give are made and
 * removed:
 *
 * <pre>
 *   .plumb-load          the mark
 *   d/00 .. d/ff         files, by their number
 *   m/f17                folders that the load makes
 *   r/                   where several hosts meet (Meeting)
 * </pre>
 */
final class Folder {
    static final String RENAMED = ".renamed";
    private static final String MARK = ".plumb-load";
    private static final Pattern OURS = Pattern.compile("f[0-9]{1,10}(\\.renamed)?");
    private static final Pattern OUR_FOLDER = Pattern.compile("[0-9a-f]{2}");
    private static final Pattern OF_A_MEETING = Pattern.compile("(begin|start|(ready|clock)-[0-9]{1,5})(\\.new)?");
    private static final int FOLDERS = 256;

    private final FileSystem fs;
    private final Path root;
    private final Path[] folders = new Path[FOLDERS];
    private final Path made;
    private final Path meeting;
    private int removed;

    Folder(FileSystem fs, Path root) {
        this.fs = fs;
        this.root = root;
        for (int i = 0; i < FOLDERS; i++) {
            folders[i] = new Path(root, String.format("d/%02x", i));
        }
        made = new Path(root, "m");
        meeting = new Path(root, Meeting.FOLDER);
    }

    Path root() {
        return root;
    }

    Path path(Kind kind, int number) {
        return kind == Kind.MKDIR ? new Path(made, "f" + number) : file(number);
    }

    Path file(int number) {
        return new Path(folders[number % FOLDERS], "f" + number);
    }

    /** Makes it, unless it is there with our mark. Refuses a folder with anything else in it. */
    void claim() throws IOException, UsageException {
        FileStatus[] entries = entries(root);
        if (entries.length > 0 && !fs.exists(new Path(root, MARK))) {
            throw new UsageException(root + " is not empty, and no load made it: name another folder with --folder");
        }
        fs.mkdirs(root);
        try (OutputStream out = fs.create(new Path(root, MARK), true)) {
            out.write("made by plumb load; 'plumb load clean' removes it\n".getBytes(StandardCharsets.UTF_8));
        }
        for (Path folder : folders) {
            fs.mkdirs(folder);
        }
        fs.mkdirs(made);
    }

    /**
     * Numbers of files that have to be made.
     *
     * @param tidy what is of another plan, or was left by a run of this one, goes
     */
    List<Integer> missing(Plan plan, boolean tidy) throws IOException {
        boolean[] there = new boolean[plan.numbers()];
        for (Path folder : folders) {
            for (FileStatus entry : entries(folder)) {
                int number = number(entry.getPath().getName());
                if (number >= 0 && number < there.length && plan.fileBytes(number) >= 0
                        && plan.fileBytes(number) == entry.getLen() && entry.isFile()) {
                    there[number] = true;
                } else if (tidy && ours(entry)) {
                    fs.delete(entry.getPath(), false);
                }
            }
        }
        for (FileStatus entry : entries(made)) {
            if (tidy && ours(entry)) {
                fs.delete(entry.getPath(), false);
            }
        }
        List<Integer> missing = new ArrayList<>();
        for (int number = 0; number < there.length; number++) {
            if (!there[number] && plan.fileBytes(number) >= 0) {
                missing.add(number);
            }
        }
        return missing;
    }

    /** Of "f17"; -1 for a file that was renamed, or is not ours. */
    private static int number(String name) {
        return name.matches("f[0-9]{1,9}") ? Integer.parseInt(name.substring(1)) : -1;
    }

    private static boolean ours(FileStatus entry) {
        String name = entry.getPath().getName();
        return OURS.matcher(name).matches() || OF_A_MEETING.matcher(name).matches();
    }

    private FileStatus[] entries(Path folder) throws IOException {
        try {
            return fs.listStatus(folder);
        } catch (FileNotFoundException e) {
            return new FileStatus[0];
        }
    }

    /** Files that clean() removed. */
    int removed() {
        return removed;
    }

    /** Removes all that a load made. What somebody else put there, or into it, stays. */
    List<Path> clean() throws IOException, UsageException {
        if (!fs.exists(new Path(root, MARK))) {
            throw new UsageException(root + " was not made by a load: nothing is removed");
        }
        List<Path> foreign = new ArrayList<>();
        for (FileStatus entry : entries(new Path(root, "d"))) {
            if (entry.isDirectory() && OUR_FOLDER.matcher(entry.getPath().getName()).matches()) {
                cleanFolder(entry.getPath(), foreign);
            } else {
                foreign.add(entry.getPath());
            }
        }
        removeIfEmpty(new Path(root, "d"));
        cleanFolder(made, foreign);
        cleanFolder(meeting, foreign);
        for (FileStatus entry : entries(root)) {
            String name = entry.getPath().getName();
            if (!name.equals(MARK) && !name.equals("d") && !name.equals("m")
                    && !name.equals(Meeting.FOLDER)) {
                foreign.add(entry.getPath());
            }
        }
        if (foreign.isEmpty()) {
            fs.delete(new Path(root, MARK), false);
            removeIfEmpty(root);
        }
        return foreign;
    }

    private void cleanFolder(Path folder, List<Path> foreign) throws IOException {
        for (FileStatus entry : entries(folder)) {
            boolean empty = entry.isFile() || entries(entry.getPath()).length == 0;
            if (ours(entry) && empty) {
                fs.delete(entry.getPath(), false);
                removed++;
            } else {
                foreign.add(entry.getPath());
            }
        }
        removeIfEmpty(folder);
    }

    private void removeIfEmpty(Path folder) throws IOException {
        if (fs.exists(folder) && entries(folder).length == 0) {
            fs.delete(folder, false);
        }
    }
}
