package io.plumbline.weave;

import net.bytebuddy.jar.asm.Attribute;
import net.bytebuddy.jar.asm.ByteVector;
import net.bytebuddy.jar.asm.ClassWriter;

/**
 * An attribute of class files that says: this is woven. The JVM takes no notice of attributes that it does not know.
 */
final class WovenMark extends Attribute {
    static final String NAME = "io.plumbline.Woven";

    WovenMark() {
        super(NAME);
    }

    @Override
    protected ByteVector write(ClassWriter writer, byte[] code, int codeLength, int maxStack, int maxLocals) {
        return new ByteVector();
    }
}
