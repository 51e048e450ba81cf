// Choosing channels by number: "0-7, 12". Pure.

/**
 * Read a choice of channels.
 *
 * @param count - How many there are.
 * @param what - What one of them is called.
 * @returns Their numbers in order, each once; a sentence when it is no choice.
 */
export function parseChannels(text: string, count: number, most: number, what = "channel"): number[] | string {
  const chosen = new Set<number>();
  for (const part of text.split(",").map((part) => part.trim())) {
    if (part === "") continue;
    const match = /^(\d+)(?:\s*-\s*(\d+))?$/.exec(part);
    if (match === null) return `"${part}" is no ${what}; write numbers and ranges such as 0-7, 12`;
    const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])];
    if (last < first || last >= count) return `"${part}" is not within 0-${count - 1}`;
    if (last - first >= most) return `at most ${most} ${what}s are drawn at once`;
    for (let channel = first; channel <= last; channel++) chosen.add(channel);
  }
  if (chosen.size === 0) return `write at least one ${what}, such as 0`;
  if (chosen.size > most) return `at most ${most} ${what}s are drawn at once`;
  return [...chosen].sort((a, b) => a - b);
}

/** A choice in as few words as it takes. */
export function channelsText(channels: readonly number[]): string {
  const runs: [number, number][] = [];
  for (const channel of channels) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === channel - 1) run[1] = channel;
    else runs.push([channel, channel]);
  }
  return runs.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(", ");
}

/** As many channels before or after those that are chosen. */
export function movedChannels(channels: readonly number[], count: number, direction: 1 | -1): number[] {
  const size = Math.min(channels.length, count);
  const first = direction === 1 ? channels.at(-1)! + 1 : channels[0]! - size;
  const start = Math.min(count - size, Math.max(0, first));
  return Array.from({ length: size }, (_, i) => start + i);
}
