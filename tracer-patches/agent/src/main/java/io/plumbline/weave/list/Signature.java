package io.plumbline.weave.list;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import net.bytebuddy.jar.asm.Type;

/** Which methods of a class a line of the list means: {@code read(byte[], int, ..)}. Immutable. */
public final class Signature {
    public static final String CONSTRUCTOR = "<init>";
    private static final String REST = "..";

    public final String method;
    private final List<String> arguments;
    /** May further arguments follow? */
    private final boolean open;

    private Signature(String method, List<String> arguments, boolean open) {
        this.method = method;
        this.arguments = arguments;
        this.open = open;
    }

    /** @throws IllegalArgumentException saying what is wrong */
    public static Signature parse(String text) {
        int bracket = text.indexOf('(');
        if (bracket <= 0 || !text.endsWith(")")) {
            throw new IllegalArgumentException("\"" + text
                    + "\": expected method(types), method(types, ..) or method(..)");
        }
        String method = text.substring(0, bracket).trim();
        if (!method.equals(CONSTRUCTOR) && !isName(method)) {
            throw new IllegalArgumentException(
                    "\"" + method + "\" is not the name of a method; constructors are <init>");
        }
        String inside = text.substring(bracket + 1, text.length() - 1).trim();
        List<String> arguments = new ArrayList<>();
        boolean open = false;
        for (String piece : inside.isEmpty() ? new String[0] : inside.split(",", -1)) {
            String type = piece.trim().replace(" ", "").replace('$', '.');
            if (open) {
                throw new IllegalArgumentException("\"..\" comes last: \"" + text + "\"");
            }
            open = type.equals(REST);
            if (!open) {
                arguments.add(checkedType(type, text));
            }
        }
        return new Signature(method, Collections.unmodifiableList(arguments), open);
    }

    private static String checkedType(String type, String text) {
        String plain = type.endsWith("...") ? type.substring(0, type.length() - 3) + "[]" : type;
        String element = plain.replace("[]", "");
        for (String part : element.split("\\.", -1)) {
            if (!isName(part)) {
                throw new IllegalArgumentException("\"" + type + "\" in \"" + text
                        + "\" is not a type: expected a name such as int, byte[], String, java.util.List, or .. for any rest");
            }
        }
        return plain;
    }

    static boolean isName(String text) {
        if (text.isEmpty() || !Character.isJavaIdentifierStart(text.charAt(0))) {
            return false;
        }
        for (int i = 1; i < text.length(); i++) {
            if (!Character.isJavaIdentifierPart(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    /** @param descriptor as in class files */
    public boolean matches(String name, String descriptor) {
        if (!name.equals(method)) {
            return false;
        }
        Type[] types = Type.getArgumentTypes(descriptor);
        if (types.length < arguments.size() || types.length > arguments.size() && !open) {
            return false;
        }
        for (int i = 0; i < arguments.size(); i++) {
            if (!means(arguments.get(i), types[i])) {
                return false;
            }
        }
        return true;
    }

    private static boolean means(String written, Type type) {
        String full = type.getClassName().replace('$', '.');
        return full.equals(written) || full.endsWith("." + written);
    }

    @Override
    public String toString() {
        return method + "(" + String.join(", ", arguments) + (!open ? "" : arguments.isEmpty() ? REST : ", " + REST)
                + ")";
    }
}
