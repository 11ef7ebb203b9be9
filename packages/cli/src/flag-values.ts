import { CommandError, exitCodes, parseDuration, type CommandFlag } from '@slipway/kube/command';
import type { OperatorFlag } from '@slipway/runtime';

function refuse(flag: string, wanted: string, text: string): never {
  throw new CommandError(`--${flag} must be ${wanted}, not '${text}'`, { exitCode: exitCodes.usage });
}

/** Reads the text of a flag as its type asks; a list goes on where it was. */
export function flagValue(name: string, flag: CommandFlag): ((text: string, before: unknown) => unknown) | undefined {
  switch (flag.type) {
    case 'integer':
      return (text) => integerValue(name, flag, text);
    case 'duration':
      return (text) => durationValue(name, text);
    case 'string':
      return flag.repeated ? (text, before) => [...((before as string[] | undefined) ?? []), text] : undefined;
    case 'boolean':
      return undefined;
  }
}

function integerValue(name: string, { least, most }: { least?: number; most?: number }, text: string): number {
  const value = /^-?\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= (least ?? Number.NEGATIVE_INFINITY) && value <= (most ?? Number.POSITIVE_INFINITY)) return value;
  return refuse(name, rangeText(least, most), text);
}

function rangeText(least: number | undefined, most: number | undefined): string {
  if (least === undefined) return 'a whole number';
  return most === undefined ? `a whole number from ${least} on` : `a number from ${least} to ${most}`;
}

function durationValue(name: string, text: string): number {
  try {
    return parseDuration(text);
  } catch {
    return refuse(name, 'a duration such as 90s or 5m', text);
  }
}

/** Checks the text of an operator's flag against its type and leaves it as it is. */
export function operatorFlagValue(flag: OperatorFlag): (text: string) => string {
  return (text) => {
    if (flag.type === 'integer') integerValue(flag.name, {}, text);
    if (flag.type === 'boolean' && text !== 'true' && text !== 'false') refuse(flag.name, 'true or false', text);
    if (flag.type === 'duration') durationValue(flag.name, text);
    return text;
  };
}
