import { problemText, toStructuralSchema, validateValue } from '@slipway/kube';

import { Operation } from '../argo/application-spec.ts';
import type { AskedOperation } from '../argo/application.ts';
import { SourceError } from './source/source-error.ts';
import { readSyncOptions } from './sync-options.ts';

/** What an Application's `operation` asks for; `refused` says which field asks for something we do not do. */
export interface ReadOperation {
  readonly asked?: AskedOperation;
  readonly refused?: string;
}

const schema = toStructuralSchema(Operation, 'operation');

/** Reads the synchronization somebody asks for. Doing more or other than what was asked for would be worse than doing nothing. */
export function readOperation(operation: unknown): ReadOperation {
  if (operation === undefined || operation === null) return {};
  const problems = validateValue(operation, schema, 'operation');
  if (problems.length > 0) return { refused: problemText(problems) };
  const asked = operation as AskedOperation;
  const refused = refusalOf(asked);
  return refused === undefined ? { asked } : { refused };
}

function refusalOf({ sync }: AskedOperation): string | undefined {
  if (!sync) return 'operation.sync: is required';
  const { dryRun, resources, syncStrategy, manifests, source, sources, syncOptions } = sync;
  if (dryRun) return 'operation.sync.dryRun: is not supported; use slipway platform diff';
  if (resources && resources.length > 0)
    return 'operation.sync.resources: parts of an Application cannot be synchronized by themselves';
  if (syncStrategy?.apply) return 'operation.sync.syncStrategy.apply: hooks always run; leave it out';
  if (syncStrategy?.hook?.force)
    return 'operation.sync.syncStrategy.hook.force: annotate the object with sync-options: Force=true';
  if (manifests && manifests.length > 0) return 'operation.sync.manifests: objects come from Git';
  if (source !== undefined || (sources && sources.length > 0)) return 'operation.sync.source: change spec.source';
  try {
    readSyncOptions(syncOptions, 'operation.sync.syncOptions');
    return undefined;
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return error.message;
  }
}
