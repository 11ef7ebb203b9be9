import type { KubeObject } from '@slipway/kube';

import { argo } from '../argo/words.ts';
import { SourceError } from './source/source-error.ts';

/** Options such as `Prune=false`, later ones over earlier ones. */
export type SyncOptions = ReadonlyMap<string, string>;

const either = ['true', 'false'];
const whetherToGo = ['true', 'false', 'confirm'];

/**
 * Argo CD's options and the values that are meant here. Where only `true` stands, the other would ask for something we do not do: objects are
 * applied and checked by the server, ignored fields stay, and nothing is taken from another Application.
 */
const known: Readonly<Record<string, readonly string[]>> = {
  ApplyOutOfSyncOnly: either,
  ClientSideApplyMigration: either,
  CreateNamespace: either,
  Delete: whetherToGo,
  FailOnSharedResource: ['true'],
  Force: either,
  Prune: whetherToGo,
  PruneLast: either,
  PrunePropagationPolicy: ['foreground', 'background', 'orphan'],
  Replace: either,
  RespectIgnoreDifferences: ['true'],
  ServerSideApply: ['true'],
  SkipDryRunOnMissingResource: either,
  Validate: ['true'],
};

/** Reads options; one that is not known, or not with this value, is refused. `field` is where they are written. */
export function readSyncOptions(texts: readonly string[] = [], field: string = argo.syncOptions): SyncOptions {
  const options = new Map<string, string>();
  for (const text of texts) {
    const [name = '', value = 'true'] = text.trim().split('=', 2);
    if (name === '') continue;
    const values = known[name];
    if (!values) throw new SourceError('InvalidSpec', `${field}: '${name}' is no option that is known here`);
    if (!values.includes(value))
      throw new SourceError(
        'InvalidSpec',
        `${field}: '${text}' is not supported; ${name} may be ${values.join(' or ')}`,
      );
    options.set(name, value);
  }
  return options;
}

/** The options an object brings itself, over those of the Application. */
export function optionsOf(object: Pick<KubeObject, 'metadata'>, general: SyncOptions): SyncOptions {
  const own = object.metadata.annotations?.[argo.syncOptions];
  return own === undefined ? general : new Map([...general, ...readSyncOptions(own.split(','))]);
}
