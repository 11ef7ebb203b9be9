/** `2006-01-02T15:04:05Z07:00` in Go's words. */
const layouts = {
  time: '2006-01-02T15:04:05Z07:00',
  microTime: '2006-01-02T15:04:05.000000Z07:00',
} as const;

const pattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})([.,]\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** What Go says of a text that is no RFC 3339 time; undefined when it is one. */
export function explainTimeError(text: string, type: 'time' | 'microTime'): string | undefined {
  const layout = layouts[type];
  const match = pattern.exec(text);
  const quote = JSON.stringify(text);
  if (match) {
    const [, year, month, day, hour, minute, second, fraction] = match;
    if (type === 'microTime' && (fraction === undefined || fraction.length !== 7)) {
      const at = text.indexOf(second ?? '', 17) + 2;
      return `parsing time ${quote} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(text.slice(at))} as ".000000"`;
    }
    const outOf = (what: string): string => `parsing time ${quote}: ${what} out of range`;
    if (Number(month) < 1 || Number(month) > 12) return outOf('month');
    const days = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
    if (Number(day) < 1 || Number(day) > days) return outOf('day');
    if (Number(hour) > 23) return outOf('hour');
    if (Number(minute) > 59) return outOf('minute');
    if (Number(second) > 59) return outOf('second');
    return undefined;
  }
  const parts: readonly (readonly [RegExp, string])[] = [
    [/^\d{4}/, '2006'],
    [/^-/, '-'],
    [/^\d{2}/, '01'],
    [/^-/, '-'],
    [/^\d{2}/, '02'],
    [/^T/, 'T'],
    [/^\d{2}/, '15'],
    [/^:/, ':'],
    [/^\d{2}/, '04'],
    [/^:/, ':'],
    [/^\d{2}(?:\.\d+)?/, '05'],
    [/^(?:Z|[+-]\d{2}:\d{2})/, 'Z07:00'],
  ];
  let rest = text;
  for (const [part, name] of parts) {
    const found = part.exec(rest);
    if (!found)
      return `parsing time ${quote} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(name)}`;
    rest = rest.slice(found[0].length);
  }
  return `parsing time ${quote}: extra text: ${JSON.stringify(rest)}`;
}

/** A valid RFC 3339 time the way the server prints it: UTC, whole seconds or six decimals. */
export function canonicalTime(text: string, type: 'time' | 'microTime'): string {
  const match = pattern.exec(text);
  if (!match) return text;
  const zone = match[8] ?? 'Z';
  const head = zone === 'Z' ? text.slice(0, 19) : new Date(`${text.slice(0, 19)}${zone}`).toISOString().slice(0, 19);
  if (type === 'time') return `${head}Z`;
  return `${head}.${(match[7] ?? '.').slice(1, 7).padEnd(6, '0')}Z`;
}
