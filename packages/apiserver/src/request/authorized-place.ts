import type { RequestAttributes } from '../auth/auth.ts';
import { pathSegment } from '../kinds/names.ts';
import { selectedName } from './field-selector.ts';

type Place = NonNullable<RequestAttributes['resource']>;

/**
 * What a request is about, as roles see it: a namespace lies in itself, so a Role inside of it can allow reading it, and a list or
 * watch of the one object with a name asks for that name.
 */
export function authorizedPlace(place: Place, verb: string, query?: URLSearchParams): Place {
  const { group, version, plural, subresource, namespace, name } = place;
  if (group === '' && plural === 'namespaces' && name) {
    return { group, version, plural, subresource, namespace: name, name };
  }
  const selector = !name && (verb === 'list' || verb === 'watch') ? query?.get('fieldSelector') : undefined;
  return { group, version, plural, subresource, namespace, name: selector ? nameIn(selector) : name };
}

function nameIn(selector: string): string {
  try {
    const name = selectedName(selector) ?? '';
    return pathSegment(name).length === 0 ? name : '';
  } catch {
    // Whoever may list gets to see what is wrong with it.
    return '';
  }
}
