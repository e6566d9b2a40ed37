package io.plumbline.weave.classes;

import net.bytebuddy.jar.asm.Attribute;
import net.bytebuddy.jar.asm.ByteVector;
import net.bytebuddy.jar.asm.ClassWriter;

/**
 * An attribute of class files that says: this is woven. The JVM takes no notice of attributes that it does not know.
 */
public final class WovenMark extends Attribute {
    public static final String NAME = "io.plumbline.Woven";

    public WovenMark() {
        super(NAME);
    }

    @Override
    protected ByteVector write(ClassWriter writer, byte[] code, int codeLength, int maxStack, int maxLocals) {
        return new ByteVector();
    }
}
