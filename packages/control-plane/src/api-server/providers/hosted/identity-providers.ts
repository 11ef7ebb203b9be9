import { ConfigMap } from '@slipway/kube';

import { applyOnce } from '../../../apply-once.ts';
import type { Target } from '../../../target/target.ts';
import { authenticationConfiguration, authenticationFile, trustsNobody } from '../authentication-configuration.ts';
import { metadataIn, object, objectNames, type Place } from './place.ts';

/** Step 6: the file with the identity providers, empty at first: the API server does not start without it. */
export async function ensureAuthenticationFile(place: Place): Promise<void> {
  const key = { namespace: place.namespace, name: objectNames.authentication };
  if (await place.client.get(ConfigMap, key)) return;
  await writeFile(place, trustsNobody);
}

/** Step 10: the API server trusts whom the OpenIDConnects on it name. Answers what had to be left out. */
export async function followIdentityProviders(
  place: Place,
  { client }: Pick<Target, 'client'>,
): Promise<readonly string[]> {
  const { text, leftOut } = await authenticationConfiguration(client);
  await writeFile(place, text);
  return leftOut;
}

async function writeFile(place: Place, text: string): Promise<void> {
  await applyOnce(
    place.client,
    ConfigMap,
    object('v1', 'ConfigMap', metadataIn(place, objectNames.authentication), { data: { [authenticationFile]: text } }),
  );
}
