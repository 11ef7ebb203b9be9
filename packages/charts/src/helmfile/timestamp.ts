import { GoTime } from '../functions/go-time.ts';

const parts =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt ](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)?)?$/;

/** The time a plain scalar of go-yaml v3 stands for, such as `2026-11-15`; it must be one by its form. */
function readTimestamp(text: string): GoTime {
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = parts.exec(text)!;
  const offset = zone === 'Z' ? 0 : offsetMinutes(zone);
  const nanoseconds = Number(fraction.padEnd(9, '0'));
  const epochMs =
    Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute) - offset, Number(second)) +
    Math.floor(nanoseconds / 1_000_000);
  return new GoTime(epochMs, offset === 0 ? 'UTC' : zone, nanoseconds % 1_000_000);
}

function offsetMinutes(zone: string): number {
  const [hours, minutes] = zone.slice(1).split(':').map(Number) as [number, number];
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** How helmfile reads YAML: integers stay integers, times become times. */
export const helmfileYaml = { dialect: 'v3', numbers: 'int', timestamp: readTimestamp } as const;
