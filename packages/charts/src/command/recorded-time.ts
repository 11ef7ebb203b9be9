import { formatLayout } from '../functions/time-layout.ts';

/** As `date` prints it; Helm shows times so. */
export const ansiLayout = 'Mon Jan _2 15:04:05 2006';
/** Go's own text of a time. */
export const goLayout = '2006-01-02 15:04:05.999999999 -0700 MST';
export const rfc3339Layout = '2006-01-02T15:04:05Z07:00';

const written = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:(Z)|([+-])(\d\d):(\d\d))$/;

/** A time of a record in a layout of Go, on the clock by which it was written. Empty where there is none, as is the beginning of Go's time. */
export function recordedTimeText(recorded: string, layout: string): string {
  const parts = written.exec(recorded);
  if (parts === null || recorded.startsWith('0001-01-01T00:00:00')) return '';
  const number = (index: number): number => Number(parts[index] ?? 0);
  const [year, month, day] = [number(1), number(2), number(3)];
  const offset = (parts[9] === '-' ? -60 : 60) * (number(10) * 60 + number(11));
  return formatLayout(layout, {
    year,
    month,
    day,
    hour: number(4),
    minute: number(5),
    second: number(6),
    nanosecond: Number((parts[7] ?? '').padEnd(9, '0')),
    weekday: new Date(Date.UTC(year, month - 1, day)).getUTCDay(),
    offset,
    zone: parts[8] === 'Z' ? 'UTC' : `${parts[9]}${parts[10]}${parts[11]}`,
  });
}
