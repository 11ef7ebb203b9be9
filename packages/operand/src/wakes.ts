import {
  annotationsChanged,
  finalizersChanged,
  generationChanged,
  labelsChanged,
  or,
  type Predicate,
} from '@slipway/runtime';

/**
 * What wakes the controller of an object: its spec, labels, annotations and finalizers. Not its status, which only we write:
 * a status that says what failed would start the next attempt at once, whatever the back-off.
 */
export const notStatusAlone: Predicate = or(generationChanged, labelsChanged, annotationsChanged, finalizersChanged);
