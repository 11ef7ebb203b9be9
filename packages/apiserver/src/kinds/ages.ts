const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** A duration as kubectl's tables show it: `45s`, `5m`, `3d4h`. Counted in whole seconds. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  const minutes = Math.floor(seconds / minute);
  if (minutes < 10) return withRest(minutes, 'm', seconds % minute, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(seconds / hour);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (hours < 24 * 8) return withRest(Math.floor(hours / 24), 'd', hours % 24, 'h');
  if (hours < 24 * 365 * 2) return `${Math.floor(hours / 24)}d`;
  const years = Math.floor(seconds / (365 * day));
  if (hours < 24 * 365 * 8) return withRest(years, 'y', Math.floor(hours / 24) % 365, 'd');
  return `${years}y`;
}

function withRest(amount: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${amount}${unit}` : `${amount}${unit}${rest}${restUnit}`;
}

/** How long ago `timestamp` was; `<unknown>` when there is none. `now` is in milliseconds since the epoch. */
export function ageOf(timestamp: unknown, now: number): string {
  if (typeof timestamp !== 'string' || timestamp === '') return '<unknown>';
  const then = Date.parse(timestamp);
  return Number.isNaN(then) ? '<invalid>' : humanDuration(now - then);
}
