/** An index key as the shell writes it. */
export const mqlKey = (key: Readonly<Record<string, number>>): string =>
  `{ ${Object.entries(key)
    .map(
      ([path, direction]) =>
        `${/^[\p{L}_][\p{L}\p{N}_]*$/u.test(path) ? path : JSON.stringify(path)}: ${direction}`,
    )
    .join(', ')} }`;
