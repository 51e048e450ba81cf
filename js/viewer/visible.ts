// Text of data as a reader can see all of it. Pure.

/** Text in which controls, marks of direction and lone surrogates can be seen. */
export function visible(text: string): string {
  return text.replace(/(?![\n\t])\p{C}/gu, (mark) => `\\u{${mark.codePointAt(0)!.toString(16)}}`);
}
