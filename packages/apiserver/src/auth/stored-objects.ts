import type { StrategyContext } from '../resource.ts';

/** Read access to what is stored, by storage id: for decisions that must not wait. */
export type StoredObjects = Pick<StrategyContext, 'lookup' | 'scan'>;
