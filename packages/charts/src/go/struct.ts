import { show } from './format.ts';
import { GoObject, type Value } from './values.ts';

/** A value, or how to get it: few templates look at everything. */
export type StructField = Value | (() => Value);

/** A Go struct a template sees: a field it does not have is an error, whatever the options say. */
export class Struct extends GoObject {
  override readonly goType: string;
  readonly #fields: ReadonlyMap<string, StructField>;
  readonly #encoded: (name: string) => string;

  /** `encoded` names a field as encoders write it. Default: in lower case, as go-yaml does. */
  constructor(
    type: string,
    fields: Readonly<Record<string, StructField>>,
    encoded = (name: string) => name.toLowerCase(),
  ) {
    super();
    this.goType = type;
    this.#fields = new Map(Object.entries(fields));
    this.#encoded = encoded;
  }

  override field(name: string): Value | undefined {
    const field = this.#fields.get(name);
    return typeof field === 'function' ? field() : field;
  }

  override text(): string {
    return `{${[...this.#fields.keys()].map((name) => show(this.field(name))).join(' ')}}`;
  }

  override plain(): Value {
    return new Map([...this.#fields.keys()].map((name) => [this.#encoded(name), this.field(name)]));
  }
}
