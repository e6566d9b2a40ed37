// Names come from the network. They become text nodes, never markup; what could not be seen in them, or would turn the
// text around it, is written out.

// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

export function visible(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0)
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}
