import { badRequest } from '../api-error.ts';
import type { ApiObject } from '../object.ts';
import type { Resource } from '../resource.ts';

export interface FieldTest {
  test(object: ApiObject): boolean;
  /** Set when the selector pins `metadata.name`; a list can then go straight to the object. */
  readonly name?: string;
}

interface Requirement {
  readonly field: string;
  readonly value: string;
  readonly equal: boolean;
}

/** Understands `a=b,c!=d` over the fields `resource` declares; `undefined` selects everything. */
export function parseFieldSelector(text: string, resource: Resource): FieldTest | undefined {
  const requirements = requirementsIn(text);
  if (requirements.length === 0) return undefined;
  const tests = requirements.map(({ field, value, equal }) => {
    const read = readerOf(field, resource);
    return (object: ApiObject) => (read(object) === value) === equal;
  });
  const name = nameAmong(requirements);
  return { test: (object) => tests.every((test) => test(object)), ...(name === undefined ? {} : { name }) };
}

/** The name a selector pins, whatever resource it is for; undefined when it leaves the name open. */
export function selectedName(text: string): string | undefined {
  return nameAmong(requirementsIn(text));
}

function nameAmong(requirements: readonly Requirement[]): string | undefined {
  return requirements.find(({ field, equal }) => field === 'metadata.name' && equal)?.value;
}

function requirementsIn(text: string): Requirement[] {
  // A bare `=` says nothing about any field.
  return splitTerms(text)
    .map(parseTerm)
    .filter(({ field, value }) => field !== '' || value !== '');
}

function readerOf(field: string, resource: Resource): (object: ApiObject) => string {
  if (field === 'metadata.name') return (object) => object.metadata.name ?? '';
  // Cluster-scoped custom resources do not know the namespace field at all.
  if (field === 'metadata.namespace' && (resource.namespaced || !resource.custom)) {
    return (object) => object.metadata.namespace ?? '';
  }
  const reader = Object.hasOwn(resource.strategy.selectableFields, field)
    ? resource.strategy.selectableFields[field]
    : undefined;
  if (reader) return reader;
  const special = Object.keys(resource.strategy.selectableFields);
  if (resource.custom || special.length > 0) throw badRequest(`field label not supported: ${field}`);
  throw badRequest(`"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`);
}

/** Splits at commas; `\` takes the meaning from a character. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let term = '';
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]!;
    if (character === '\\' && index + 1 < text.length) {
      term += character + text[index + 1]!;
      index += 1;
    } else if (character === ',') {
      terms.push(term);
      term = '';
    } else term += character;
  }
  terms.push(term);
  return terms.filter((each) => each !== '');
}

function parseTerm(term: string): Requirement {
  for (let index = 0; index < term.length; index += 1) {
    if (term[index] === '\\') {
      index += 1;
      continue;
    }
    for (const operator of ['!=', '==', '=']) {
      if (!term.startsWith(operator, index)) continue;
      const given = term.slice(index + operator.length);
      const loose = /(?:^|[^\\])=/.test(given) ? 61 : undefined;
      if (loose) throw badRequest(`invalid field selector: unescaped character in value: ${loose}`);
      const value = given.replace(/\\([\\,=])/g, '$1');
      return { field: term.slice(0, index), value, equal: operator !== '!=' };
    }
  }
  throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
}
