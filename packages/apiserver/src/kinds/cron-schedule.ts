const fields: readonly { name: string; low: number; high: number; names?: readonly string[] }[] = [
  { name: 'minute', low: 0, high: 59 },
  { name: 'hour', low: 0, high: 23 },
  { name: 'day of month', low: 1, high: 31 },
  {
    name: 'month',
    low: 1,
    high: 12,
    names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
  },
  { name: 'day of week', low: 0, high: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
];

const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

/** What is wrong with a CronJob schedule, in the words of Go's cron parser; `undefined` when it is fine. */
export function scheduleProblem(schedule: string): string | undefined {
  const text = schedule.replace(/^(?:CRON_)?TZ=\S+\s+/, '').trim();
  if (text.startsWith('@')) {
    if (descriptors.includes(text) || /^@every \S+$/.test(text)) return undefined;
    return `unrecognized descriptor: ${text}`;
  }
  const parts = text.split(/\s+/).filter(Boolean);
  if (parts.length !== 5) {
    return `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`;
  }
  for (const [index, part] of parts.entries()) {
    const problem = fieldProblem(part, fields[index]!);
    if (problem) return problem;
  }
  return undefined;
}

function fieldProblem(part: string, field: (typeof fields)[number]): string | undefined {
  for (const item of part.split(',')) {
    const [range, step, ...more] = item.split('/');
    if (more.length > 0) return `too many slashes: ${item}`;
    const [from, to, ...rest] = range!.split('-');
    if (rest.length > 0) return `too many hyphens: ${item}`;
    const isAny = from === '*' || from === '?';
    const start = isAny ? field.low : numberOf(from!, field);
    const end = isAny ? field.high : to === undefined ? start : numberOf(to, field);
    for (const [value, given] of [
      [start, from],
      [end, to ?? from],
    ] as const) {
      if (Number.isNaN(value)) {
        return `failed to parse int from ${given}: strconv.Atoi: parsing ${JSON.stringify(given)}: invalid syntax`;
      }
    }
    if (start < field.low) return `beginning of range (${start}) below minimum (${field.low}): ${item}`;
    if (end > field.high) return `end of range (${end}) above maximum (${field.high}): ${item}`;
    if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${item}`;
    if (step === undefined) continue;
    if (!/^\d+$/.test(step)) {
      return `failed to parse int from ${step}: strconv.Atoi: parsing ${JSON.stringify(step)}: invalid syntax`;
    }
    if (Number(step) === 0) return `step of range should be a positive number: ${item}`;
  }
  return undefined;
}

function numberOf(text: string, field: (typeof fields)[number]): number {
  const named = field.names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return field.low + named;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
