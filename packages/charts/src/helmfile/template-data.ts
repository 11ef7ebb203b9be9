import { show } from '../go/format.ts';
import { deepCopy, GoObject, type GoMap, type Value } from '../go/values.ts';

/** A Go struct a template sees: a field it does not have is an error, whatever the options say. */
export class Struct extends GoObject {
  override readonly goType: string;
  readonly #fields: ReadonlyMap<string, Field>;

  constructor(type: string, fields: Readonly<Record<string, Field>>) {
    super();
    this.goType = type;
    this.#fields = new Map(Object.entries(fields));
  }

  override field(name: string): Value | undefined {
    const field = this.#fields.get(name);
    return typeof field === 'function' ? field() : field;
  }

  override text(): string {
    return `{${[...this.#fields.keys()].map((name) => show(this.field(name))).join(' ')}}`;
  }

  override plain(): Value {
    return new Map([...this.#fields.keys()].map((name) => [name.toLowerCase(), this.field(name)]));
  }
}

/** A value, or how to get it: few templates look at everything. */
type Field = Value | (() => Value);

/** A copy made when somebody first asks for it. Templates change maps, and all of one run see the same. */
export function copyOnDemand(values: GoMap): () => GoMap {
  let copy: GoMap | undefined;
  return () => (copy ??= deepCopy(values));
}
