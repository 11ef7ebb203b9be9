import { Secret } from '@slipway/kube';

import { metadataIn, object, type Place } from './place.ts';

/** The texts of a Secret by key. */
export type Texts = Readonly<Record<string, string>>;

/** A Secret as it was found, with its texts decoded. */
export interface FoundSecret {
  readonly secret?: Secret;
  readonly texts: Texts;
}

export async function readSecret({ client, namespace }: Place, name: string): Promise<FoundSecret> {
  const secret = await client.get(Secret, { namespace, name });
  const texts = Object.fromEntries(
    Object.entries(secret?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
  return { ...(secret ? { secret } : {}), texts };
}

/**
 * Writes what was read before, changed. Somebody who was faster makes this fail: two certificate authorities of one control plane, each
 * trusted by half of it, would be worse than a second try.
 */
export async function writeSecret(place: Place, name: string, found: FoundSecret, texts: Texts): Promise<FoundSecret> {
  const data = Object.fromEntries(
    Object.entries(texts).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  );
  const secret = found.secret
    ? await place.client.update({ ...found.secret, data })
    : await place.client.create(object('v1', 'Secret', metadataIn(place, name), { type: 'Opaque', data }));
  return { secret: secret as Secret, texts };
}
