import type { Strategy } from '../resource.ts';
import { ageOf } from './ages.ts';
import { sameValue } from './json-access.ts';
import { dnsSubdomain } from './names.ts';

const nothing = (): void => {};
const noProblems = (): never[] => [];

/** How a kind behaves about which nothing special is known. */
export const defaultStrategy: Strategy = {
  unconditionalUpdate: true,
  createOnUpdate: false,
  deleteReturnsObject: false,
  hasGeneration: false,
  generationChanged: (next, previous) => !sameValue(next['spec'], previous['spec']),
  defaultPropagation: 'Background',
  gracePeriodSeconds: () => 0,
  statusField: false,
  applyDefaults: nothing,
  prepareForCreate: nothing,
  prepareForUpdate: nothing,
  prepareForStatusUpdate: nothing,
  validate: noProblems,
  validateUpdate: noProblems,
  validateStatusUpdate: noProblems,
  validateName: dnsSubdomain,
  selectableFields: {},
  warnings: noProblems,
  cells: (object, now) => [object.metadata.name ?? '', ageOf(object.metadata.creationTimestamp, now)],
  released: nothing,
};

/** The default strategy with what a kind does differently. */
export function strategyWith(differences: Partial<Strategy>): Strategy {
  return { ...defaultStrategy, ...differences };
}
