/** A shorter word is near too many others. */
export const LEAST_LETTERS = 5;

/** One letter was added, left out or exchanged, or changed places with the next. */
export function isNear(name: string, written: string): boolean {
  if (name === written || Math.abs(name.length - written.length) > 1) return false;
  const [short, long] = name.length < written.length ? [name, written] : [written, name];
  let same = 0;
  while (same < short.length && short[same] === long[same]) same++;
  if (long.slice(same + 1) === short.slice(same + Number(short.length === long.length)))
    return true;
  const swapped = `${short.slice(0, same)}${short[same + 1]}${short[same]}${short.slice(same + 2)}`;
  return swapped === long;
}
