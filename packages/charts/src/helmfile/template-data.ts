import { show } from '../go/format.ts';
import { GoObject, type Value } from '../go/values.ts';

/** A Go struct a template sees: a field it does not have is an error, whatever the options say. */
export class Struct extends GoObject {
  override readonly goType: string;
  readonly #fields: ReadonlyMap<string, Value>;

  constructor(type: string, fields: Readonly<Record<string, Value>>) {
    super();
    this.goType = type;
    this.#fields = new Map(Object.entries(fields));
  }

  override field(name: string): Value | undefined {
    return this.#fields.get(name);
  }

  override text(): string {
    return `{${[...this.#fields.values()].map((value) => show(value)).join(' ')}}`;
  }

  override plain(): Value {
    return new Map([...this.#fields].map(([name, value]) => [name.toLowerCase(), value]));
  }
}
