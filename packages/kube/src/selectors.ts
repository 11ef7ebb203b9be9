import type { LabelSelector } from './kinds/meta-types.ts';
import type { DeepReadonly } from './object.ts';
import { InputError } from './input-error.ts';

export type LabelOperator = 'in' | 'notin' | 'exists' | 'absent' | 'gt' | 'lt';

/** One term of a label selector; all terms of a selector must hold. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

type Labels = Readonly<Record<string, string>> | undefined;

/** Everything that may stand for a label selector in an API of ours. */
export type LabelSelectorInput = string | Readonly<Record<string, string>> | readonly LabelRequirement[];

/** Whether `labels` satisfy a selector. An empty selector matches everything. */
export function matchesLabels(labels: Labels, selector: LabelSelectorInput | undefined): boolean {
  return selector === undefined || toRequirements(selector).every((requirement) => holds(requirement, labels ?? {}));
}

function holds({ key, operator, values }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && values.includes(value);
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'gt':
      return isInteger(value) && BigInt(value) > BigInt(values[0]!);
    case 'lt':
      return isInteger(value) && BigInt(value) < BigInt(values[0]!);
  }
}

function isInteger(text: string | undefined): text is string {
  return text !== undefined && /^-?\d+$/.test(text);
}

/** A selector as the text that goes into a URL, terms in the order given. */
export function formatLabelSelector(selector: LabelSelectorInput): string {
  if (typeof selector === 'string') return selector;
  return toRequirements(selector).map(formatRequirement).join(',');
}

function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case 'absent':
      return `!${key}`;
    case 'in':
      return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${values.join(',')})`;
    case 'notin':
      return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${values.join(',')})`;
    case 'gt':
      return `${key}>${values[0]}`;
    case 'lt':
      return `${key}<${values[0]}`;
  }
}

function toRequirements(selector: LabelSelectorInput): readonly LabelRequirement[] {
  if (typeof selector === 'string') return parseLabelSelector(selector);
  if (Array.isArray(selector)) return selector as readonly LabelRequirement[];
  return Object.entries(selector as Readonly<Record<string, string>>).map(([key, value]) => ({
    key,
    operator: 'in',
    values: [value],
  }));
}

/** The terms of a `metav1.LabelSelector` (`spec.selector` of a Deployment). */
export function labelSelectorRequirements(selector: DeepReadonly<LabelSelector>): LabelRequirement[] {
  const terms: LabelRequirement[] = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: 'in',
    values: [value],
  }));
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    switch (operator) {
      case 'In':
      case 'NotIn':
        if (values.length === 0)
          throw new InputError('Selector', `label selector: ${key} ${operator} needs at least one value`);
        terms.push({ key, operator: operator === 'In' ? 'in' : 'notin', values });
        break;
      case 'Exists':
      case 'DoesNotExist':
        if (values.length > 0) throw new InputError('Selector', `label selector: ${key} ${operator} takes no values`);
        terms.push({ key, operator: operator === 'Exists' ? 'exists' : 'absent', values: [] });
        break;
      default:
        throw new InputError('Selector', `label selector: ${key} has unknown operator "${String(operator)}"`);
    }
  }
  return terms;
}

/** Parses `app=web,tier in (a,b),!legacy,generation>3`. Fails with the place where it stops making sense. */
export function parseLabelSelector(text: string): LabelRequirement[] {
  const parser = new SelectorParser(text);
  const requirements: LabelRequirement[] = [];
  if (parser.atEnd()) return requirements;
  do requirements.push(parser.requirement());
  while (parser.take(','));
  if (!parser.atEnd()) parser.fail('expected "," or the end');
  return requirements;
}

const keyPattern = /^([a-z0-9A-Z]([-a-z0-9A-Z.]*[a-z0-9A-Z])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const valuePattern = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

class SelectorParser {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  requirement(): LabelRequirement {
    if (this.take('!')) return { key: this.#key(), operator: 'absent', values: [] };
    const key = this.#key();
    if (this.atEnd() || this.#peek() === ',') return { key, operator: 'exists', values: [] };
    if (this.take('!=')) return { key, operator: 'notin', values: [this.#value()] };
    if (this.take('==') || this.take('=')) return { key, operator: 'in', values: [this.#value()] };
    if (this.take('>')) return { key, operator: 'gt', values: [this.#integer()] };
    if (this.take('<')) return { key, operator: 'lt', values: [this.#integer()] };
    const word = this.#word();
    if (word === 'in' || word === 'notin') return { key, operator: word, values: this.#values() };
    return this.fail('expected =, ==, !=, <, >, in or notin', word.length);
  }

  take(token: string): boolean {
    this.#skipSpace();
    if (!this.#text.startsWith(token, this.#position)) return false;
    this.#position += token.length;
    return true;
  }

  atEnd(): boolean {
    this.#skipSpace();
    return this.#position >= this.#text.length;
  }

  fail(problem: string, back = 0): never {
    throw new InputError(
      'Selector',
      `label selector "${this.#text}": ${problem} at character ${this.#position - back + 1}`,
    );
  }

  #peek(): string {
    this.#skipSpace();
    return this.#text[this.#position] ?? '';
  }

  #key(): string {
    const key = this.#word();
    if (!keyPattern.test(key)) this.fail(`"${key}" is not a label key`, key.length);
    return key;
  }

  #value(): string {
    const value = this.#word();
    if (!valuePattern.test(value)) this.fail(`"${value}" is not a label value`, value.length);
    return value;
  }

  #integer(): string {
    const value = this.#value();
    if (!/^-?\d+$/.test(value)) this.fail(`"${value}" is not an integer`, value.length);
    return value;
  }

  #values(): string[] {
    if (!this.take('(')) this.fail('expected "("');
    const values = [this.#value()];
    while (this.take(',')) values.push(this.#value());
    if (!this.take(')')) this.fail('expected ")"');
    return values;
  }

  #word(): string {
    this.#skipSpace();
    const start = this.#position;
    while (this.#position < this.#text.length && !/[\s,()!=<>]/.test(this.#text[this.#position]!)) this.#position += 1;
    return this.#text.slice(start, this.#position);
  }

  #skipSpace(): void {
    while (/\s/.test(this.#text[this.#position] ?? '')) this.#position += 1;
  }
}

/** One term of a field selector: `metadata.name=web` or `status.phase!=Running`. */
export interface FieldRequirement {
  readonly field: string;
  readonly equals: boolean;
  readonly value: string;
}

/** Parses a field selector. `\\`, `\,` and `\=` stand for the character itself. */
export function parseFieldSelector(text: string): FieldRequirement[] {
  if (text.trim() === '') return [];
  return splitUnescaped(text, ',').map((term) => {
    const match = /^((?:\\.|[^\\=!])*)(!=|==|=)((?:\\.|[^\\])*)$/s.exec(term);
    if (!match)
      throw new InputError('Selector', `field selector "${text}": "${term}" is not field=value or field!=value`);
    const [, field = '', operator, value = ''] = match;
    if (field.trim() === '') throw new InputError('Selector', `field selector "${text}": "${term}" names no field`);
    return { field: field.trim(), equals: operator !== '!=', value: value.replaceAll(/\\(.)/gs, '$1') };
  });
}

export function formatFieldSelector(requirements: readonly FieldRequirement[]): string {
  return requirements
    .map(({ field, equals, value }) => `${field}${equals ? '=' : '!='}${value.replaceAll(/[\\,=]/g, String.raw`\$&`)}`)
    .join(',');
}

/** Whether an object satisfies a field selector, looking fields up by their dotted path; an absent field is `''`. */
export function matchesFields(object: unknown, selector: string | readonly FieldRequirement[]): boolean {
  const requirements = typeof selector === 'string' ? parseFieldSelector(selector) : selector;
  return requirements.every(({ field, equals, value }) => (fieldText(object, field) === value) === equals);
}

function fieldText(object: unknown, field: string): string {
  let value = object;
  for (const name of field.split('.')) {
    if (typeof value !== 'object' || value === null) return '';
    value = (value as Record<string, unknown>)[name];
  }
  return value === undefined || value === null ? '' : String(value);
}

function splitUnescaped(text: string, separator: string): string[] {
  const parts: string[] = [];
  let current = '';
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]!;
    if (character === '\\') {
      current += character + (text[index + 1] ?? '');
      index += 1;
    } else if (character === separator) {
      parts.push(current);
      current = '';
    } else current += character;
  }
  return [...parts, current];
}
