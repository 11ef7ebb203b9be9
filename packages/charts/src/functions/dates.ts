import { show } from '../go/format.ts';
import { SizedInt, typeOf, type Value } from '../go/values.ts';
import type { FunctionTable, Run, TemplateFunction } from '../template/run.ts';
import { fn, inRun } from '../template/signature.ts';
import { parseGoFloat } from './convert.ts';
import {
  duration,
  durationText,
  hour,
  inUnits,
  minute,
  parseDuration,
  roundDuration,
  second,
  truncateDuration,
} from './duration.ts';
import { environmentOf } from './environment.ts';
import { GoTime, isTimeZone, timeAt } from './go-time.ts';
import { parseLayout } from './time-layout.ts';

function now(run: Run): GoTime {
  const { clock, timeZone } = environmentOf(run);
  return new GoTime(clock.now(), timeZone);
}

/** What sprig takes for a date; everything it does not know is now. */
function dateOf(run: Run, value: Value): GoTime {
  if (value instanceof GoTime) return value;
  const seconds =
    typeof value === 'bigint' ? value : value instanceof SizedInt && value.type !== 'uint8' ? value.value : undefined;
  return seconds === undefined ? now(run) : new GoTime(Number(seconds) * 1000, environmentOf(run).timeZone);
}

function zoneOf(run: Run, name: string): string {
  if (name === 'Local') return environmentOf(run).timeZone;
  return name === '' || !isTimeZone(name) ? 'UTC' : name;
}

function formatIn(run: Run, layout: string, value: Value, zone: string): string {
  return dateOf(run, value).in(zoneOf(run, zone)).format(layout);
}

function toDate(run: Run, layout: string, text: string): GoTime {
  const { offset, zone, ...wall } = parseLayout(layout, text);
  const { timeZone } = environmentOf(run);
  if (offset === undefined && zone === '') return timeAt(wall, timeZone);
  const utc = timeAt(wall, 'UTC');
  if (offset === 0 && zone === 'UTC') return utc;
  const local = timeAt(wall, timeZone);
  const isLocal =
    (offset === undefined || local.wall().offset === offset) && (zone === '' || local.wall().zone === zone);
  if (isLocal) return local;
  if (offset !== undefined) return new GoTime(utc.epochMs - offset * 1000, { name: zone, offset }, utc.nanoseconds);
  // A name alone says nothing about the offset, unless it is one.
  const hours = /^GMT([+-]\d+)$/.exec(zone)?.[1];
  return utc.in({ name: zone, offset: Number(hours ?? 0) * 3600 });
}

function since(run: Run, time: GoTime): bigint {
  return BigInt(Math.round(environmentOf(run).clock.now() - time.epochMs)) * 1_000_000n;
}

/** The largest unit only: `3d`, `2mo`. */
function coarse(nanoseconds: bigint): string {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const hour = 3600n * second;
  const scale: [bigint, string][] = [
    [hour * 24n * 365n, 'y'],
    [hour * 24n * 30n, 'mo'],
    [hour * 24n, 'd'],
    [hour, 'h'],
    [60n * second, 'm'],
    [second, 's'],
  ];
  const found = scale.find(([unit]) => size > unit);
  return found ? `${size / found[0]}${found[1]}` : '0s';
}

function coarseDuration(run: Run, value: Value): string {
  if (typeof value === 'string') return coarse(attempt(() => parseDuration(value), 0n));
  if (value instanceof SizedInt && value.type === 'int64') return coarse(value.value);
  return value instanceof GoTime ? coarse(since(run, value)) : '0s';
}

function attempt<T>(run: () => T, otherwise: T): T {
  try {
    return run();
  } catch {
    return otherwise;
  }
}

function nearestInt64(value: bigint): bigint {
  const nearest = BigInt.asIntN(64, value);
  if (nearest === value) return value;
  return value > 0n ? (1n << 63n) - 1n : -(1n << 63n);
}

function secondsText(value: Value): string {
  const seconds = value instanceof SizedInt && value.type === 'int64' ? value.value : 0n;
  const wanted =
    typeof value === 'string' && /^[+-]?\d+$/.test(value) ? nearestInt64(BigInt(value.replace(/^\+/, ''))) : seconds;
  return durationText(BigInt.asIntN(64, wanted * second));
}

/** Helm's durations: text, or a number of seconds. */
function asDuration(value: Value): bigint {
  if (value === null || value === undefined) throw new Error('invalid duration');
  if (value instanceof SizedInt) return value.type === 'time.Duration' ? value.value : wholeSeconds(value.value);
  if (typeof value === 'bigint') return wholeSeconds(value);
  if (typeof value === 'number') return fractionalSeconds(value);
  if (typeof value !== 'string') throw new Error(`unsupported duration type ${typeOf(value)}`);
  const text = value.trim();
  if (text === '') throw new Error('empty duration');
  const parsed = attempt<bigint | undefined>(() => parseDuration(text), undefined);
  if (parsed !== undefined) return parsed;
  const number = parseGoFloat(text);
  if (number === undefined) throw new Error(`could not parse duration ${JSON.stringify(value)}`);
  return fractionalSeconds(number);
}

function wholeSeconds(seconds: bigint): bigint {
  const nanoseconds = seconds * second;
  if (nanoseconds >= 1n << 63n || nanoseconds < -(1n << 63n)) throw new Error(`duration seconds overflow: ${seconds}`);
  return nanoseconds;
}

function fractionalSeconds(seconds: number): bigint {
  if (!Number.isFinite(seconds)) throw new Error(`invalid duration seconds: ${show(seconds)}`);
  if (Math.abs(seconds) > 2 ** 63 / 1e9) throw new Error(`duration seconds overflow: ${show(seconds)}`);
  return BigInt(Math.trunc(seconds * 1e9));
}

function measured(unit: (nanoseconds: bigint) => Value): TemplateFunction {
  return fn(['any'], (value) => unit(attempt(() => asDuration(value), 0n)));
}

const dateInZone = inRun(['string', 'any', 'string'], formatIn);
const dateModify = fn(['string', 'struct time.Time'], (text, time) =>
  attempt(() => (time as GoTime).add(parseDuration(text)), time as GoTime),
);
const mustDateModify = fn(['string', 'struct time.Time'], (text, time) => (time as GoTime).add(parseDuration(text)));

export const dateFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['now', inRun([], now)],
  ['date', inRun(['string', 'any'], (run, layout, value) => formatIn(run, layout, value, 'Local'))],
  ['date_in_zone', dateInZone],
  ['dateInZone', dateInZone],
  ['htmlDate', inRun(['any'], (run, value) => formatIn(run, '2006-01-02', value, 'Local'))],
  ['htmlDateInZone', inRun(['any', 'string'], (run, value, zone) => formatIn(run, '2006-01-02', value, zone))],
  ['date_modify', dateModify],
  ['dateModify', dateModify],
  ['must_date_modify', mustDateModify],
  ['mustDateModify', mustDateModify],
  [
    'toDate',
    inRun(['string', 'string'], (run, layout, text) => attempt(() => toDate(run, layout, text), GoTime.zero())),
  ],
  ['mustToDate', inRun(['string', 'string'], toDate)],
  ['unixEpoch', fn(['struct time.Time'], (time) => String((time as GoTime).unix()))],
  ['ago', inRun(['any'], (run, value) => durationText(roundDuration(since(run, dateOf(run, value)), second)))],
  ['duration', fn(['any'], secondsText)],
  ['durationRound', inRun(['any'], coarseDuration)],
  ['mustToDuration', fn(['any'], (value) => duration(asDuration(value)))],
  ['durationSeconds', measured((nanoseconds) => inUnits(nanoseconds, second))],
  ['durationMinutes', measured((nanoseconds) => inUnits(nanoseconds, minute))],
  ['durationHours', measured((nanoseconds) => inUnits(nanoseconds, hour))],
  ['durationDays', measured((nanoseconds) => inUnits(nanoseconds, hour) / 24)],
  ['durationWeeks', measured((nanoseconds) => inUnits(nanoseconds, hour) / 24 / 7)],
  ['durationMilliseconds', measured((nanoseconds) => new SizedInt('int64', nanoseconds / 1_000_000n))],
  ['durationMicroseconds', measured((nanoseconds) => new SizedInt('int64', nanoseconds / 1000n))],
  ['durationNanoseconds', measured((nanoseconds) => new SizedInt('int64', nanoseconds))],
  ['durationRoundTo', multipleOf(roundDuration)],
  ['durationTruncateTo', multipleOf(truncateDuration)],
]);

function multipleOf(change: (value: bigint, multiple: bigint) => bigint): TemplateFunction {
  return fn(['any', 'any'], (value, multiple) => {
    const nanoseconds = attempt<bigint | undefined>(() => asDuration(value), undefined);
    if (nanoseconds === undefined) return duration(0n);
    return duration(attempt(() => change(nanoseconds, asDuration(multiple)), nanoseconds));
  });
}
