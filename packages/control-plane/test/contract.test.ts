import { onReference, skipped } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { componentTypes } from '../src/component/component-type.ts';
import { checkContract, type ContractCheck, contractChecks } from '../src/testing/index.ts';
import { type Fault, handWritten } from './hand-written.ts';
import { plainSubject, workshopSubject } from './plain-subject.ts';
import { realSubjects } from './real-subjects.ts';

// There each check costs seconds; a broken component costs all the patience its check has.
const embeddedOnly = skipped(
  onReference,
  'on the real API server: the component contract for stand-ins and broken components; our own components are checked there',
);
const thorough = process.env['SLIPWAY_SWEEP'] === 'full';
const shortened = skipped(
  !thorough && !onReference,
  'the component contract for most components, and half of it for each of the two that are left; needs SLIPWAY_SWEEP=full or the real API server',
);
const plainTypes = shortened ? [] : componentTypes;
/** The one that all depend on and that serves them while it goes, and one that depends on it. */
const ownSubjects = shortened ? realSubjects.slice(0, 2) : realSubjects;

const sampled = skipped(
  !thorough && onReference,
  'on the real API server: two thirds of the checks of each component, each is made on two of them; needs SLIPWAY_SWEEP=full',
);
/** A component gets one in this many of the checks; together they get all. */
const sharers = sampled ? 3 : shortened ? ownSubjects.length : 1;

const titled = contractChecks.map((check) => [`${check.heading}: ${check.sentence}`, check] as const);

describe.skipIf(embeddedOnly).each(plainTypes)('%s on the library keeps the contract', (type) => {
  test.each(titled)('%s', async (_title, check) => await checkContract(check, plainSubject(type)));
});

describe.each(ownSubjects.map((subject, index) => [`${subject.type} (${index})`, subject] as const))(
  'our own %s keeps the contract',
  (_type, subject) => {
    const first = realSubjects.indexOf(subject);
    const chosen = titled.filter((_, index) => (index + first) % sharers === 0);
    test.each(chosen)('%s', async (_title, check) => await checkContract(check, subject));
  },
);

const byHand = (fault?: Fault) => workshopSubject('Authentication', (workshop) => handWritten(workshop, fault));

describe.skipIf(embeddedOnly)('a component without the library keeps the contract too', () => {
  test.each(titled)('%s', async (_title, check) => await checkContract(check, byHand()));
});

/** Which sentence each fault breaks. */
const broken: readonly (readonly [fault: Fault, heading: string, begins: string])[] = [
  ['writes no status', 'Reconciliation Flow', 'Update component status'],
  ['hides failures', 'Reconciliation Flow', 'The status should also be updated in case of an error'],
  ['has no finalizer', 'Create/Update', 'Ensure finalizer on own component resource.'],
  ['has no dependency finalizers', 'Create/Update', 'Ensure dependency finalizers'],
  ['works before its finalizer', 'Create/Update', 'Ensure finalizer on own component resource before'],
  ['does not wait for dependants', 'Delete', 'Do not proceed'],
  ['does not say that it waits for dependants', 'Delete', 'If there are dependency finalizers'],
  ['does not clean up', 'Delete', 'Perform actual component deletion logic'],
  ['leaves dependency finalizers', 'Delete', 'Remove own dependency finalizers'],
  ['takes its own finalizer off first', 'Delete', 'Remove own finalizer from own resource'],
  ['goes although it cannot clean up', 'Delete', 'If the deletion has to wait'],
  ['writes its spec', 'No-Gos for Component Controllers', 'Must not modify any'],
  ['reads the ManagedControlPlane', 'No-Gos for Component Controllers', 'Must not read or modify'],
  ['tells secrets', 'No-Gos for Component Controllers', 'Must not expose'],
  [
    'does not notice a new spec',
    'Reacting to Changes',
    "Component controllers are expected to reconcile their own resource if the resource's spec",
  ],
  [
    'does not notice new labels',
    'Reacting to Changes',
    "Component controllers are expected to reconcile their own resource if the resource's labels",
  ],
  [
    'does not notice its deletion',
    'Reacting to Changes',
    'Component controllers are expected to reconcile their own resource if a deletion',
  ],
  ['leaves the reconcile annotation', 'The Operation Annotation', 'reconcile:'],
  ['only takes the reconcile annotation off', 'The Operation Annotation', 'reconcile:'],
  ['does not heed ignore', 'The Operation Annotation', 'ignore: it must not'],
  ['does not heed ignore in deletion', 'The Operation Annotation', 'ignore: a resource in deletion'],
  ['does not wait for dependencies', 'Finalizers', 'A dependency that is not found'],
  ['takes an old dependency for ready', 'Finalizers', 'A dependency that is ready for another'],
  ['has no conditions', 'Conditions', "Each component resource's status"],
  ['has the condition of another', 'Conditions', 'Each condition must have a globally unique'],
  ['makes up a status', 'Conditions', 'A status that must be'],
  ['gives no reason', 'Conditions', 'For any condition with a non-True'],
  ['writes on every pass', 'Rules of the house', 'Run twice'],
];

function checkFor(heading: string, begins: string): ContractCheck {
  return contractChecks.find((check) => check.heading === heading && check.sentence.startsWith(begins))!;
}

describe.skipIf(embeddedOnly)('a component that breaks one sentence fails the check of that sentence', () => {
  test.each(broken)('%s: %s', async (fault, heading, begins) => {
    const failure = await checkContract(checkFor(heading, begins), byHand(fault)).catch((error: unknown) => error);
    expect(String(failure)).toMatch(/^(?:AssertionError|Error: waited in vain)/);
  });

  test('every sentence has a component that breaks it', () => {
    expect(new Set(broken.map(([, heading, begins]) => checkFor(heading, begins)))).toEqual(new Set(contractChecks));
  });
});
