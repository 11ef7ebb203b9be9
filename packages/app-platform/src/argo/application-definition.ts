import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CustomResourceDefinition,
  isAlreadyExists,
  isConditionTrue,
  isUnknownKind,
  sleep,
  type Client,
  type Clock,
} from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';

import { referencePlatform } from '../values/reference-platform.ts';
import { Application } from './application.ts';

export const definitionName = 'applications.argoproj.io';

/** The definition the reference platform ships. */
const file = join(referencePlatform, 'charts', 'argocd', 'crds', 'application.yaml');
const establishedWithinMs = 60_000;
const lookEveryMs = 500;

interface Access {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Makes sure the cluster knows Applications. Where Argo CD, or whoever else, has defined them, theirs stays. */
export async function ensureApplicationKind(access: Access): Promise<void> {
  const { client, signal } = access;
  try {
    await client.resolve(Application.apiVersion, Application.kind, { signal });
    return;
  } catch (error) {
    if (!isUnknownKind(error)) throw error;
  }
  for (const definition of parseManifests(await readFile(file, 'utf8'), { source: file })) {
    await client.create(definition, { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  await untilEstablished(access, definitionName);
}

/** Resolves when the server serves a definition. */
export async function untilEstablished({ client, clock, signal }: Access, name: string): Promise<void> {
  const end = clock.monotonic() + establishedWithinMs;
  while (!isConditionTrue(await client.get(CustomResourceDefinition, { name }, { signal }), 'Established')) {
    if (clock.monotonic() > end) throw new Error(`the definition ${name} was not established in time`);
    await sleep(clock, lookEveryMs, signal);
  }
}
