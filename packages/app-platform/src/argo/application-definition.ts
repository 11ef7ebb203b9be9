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

import { OperatorError } from '../operator-error.ts';
import { referencePlatform } from '../values/reference-platform.ts';
import { Application } from './application.ts';

export const definitionName = 'applications.argoproj.io';

/** The definition the reference platform ships. */
const file = join(referencePlatform, 'charts', 'argocd', 'crds', 'application.yaml');
const withinMs = 60_000;
const lookEveryMs = 500;

interface Access {
  readonly client: Client;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Makes sure the cluster knows Applications. Where Argo CD, or whoever else, has defined them, theirs stays. */
export async function ensureApplicationKind(access: Access): Promise<void> {
  if (await isServed(access)) return;
  const { client, signal } = access;
  for (const definition of parseManifests(await readFile(file, 'utf8'), { source: file })) {
    await client.create(definition, { signal }).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  await untilEstablished(access, definitionName);
  // Between "established" and "served" there is a moment.
  await until(access, `the definition ${definitionName} was not served in time`, () => isServed(access));
}

async function isServed({ client, signal }: Access): Promise<boolean> {
  try {
    await client.resolve(Application.apiVersion, Application.kind, { signal });
    return true;
  } catch (error) {
    if (!isUnknownKind(error)) throw error;
    return false;
  }
}

/** Resolves when the server has accepted a definition. */
export async function untilEstablished(access: Access, name: string): Promise<void> {
  const { client, signal } = access;
  await until(access, `the definition ${name} was not established in time; its conditions say why`, async () =>
    isConditionTrue(await client.get(CustomResourceDefinition, { name }, { signal }), 'Established'),
  );
}

async function until({ clock, signal }: Access, failure: string, check: () => Promise<boolean>): Promise<void> {
  const end = clock.monotonic() + withinMs;
  while (!(await check())) {
    if (clock.monotonic() > end) throw new OperatorError('NotEstablished', failure);
    await sleep(clock, lookEveryMs, signal);
  }
}
