import { expect, test } from 'vitest';

import { controlPlaneOperator } from './operator.ts';

const namesWith = (flags: Record<string, string>): string[] =>
  controlPlaneOperator
    .controllers({ flags: { 'existing-secret': 'team/target', ...flags }, env: {} })
    .map(({ name }) => name);

test('every component has its controller', () => {
  expect(namesWith({})).toEqual([
    'managedcontrolplane',
    'apiserver',
    'authentication',
    'authorization',
    'landscaper',
    'cloudorchestrator',
    'managedcomponent',
    'clusteradmin',
  ]);
});

test('a component whose controller runs elsewhere is left to it', () => {
  expect(namesWith({ 'components-elsewhere': 'Landscaper, cloudorchestrator' })).toEqual([
    'managedcontrolplane',
    'apiserver',
    'authentication',
    'authorization',
    'clusteradmin',
  ]);
});

test.each([
  [{ provider: 'cloud' }, /--provider: there is no provider 'cloud'; known: /],
  [{ provider: 'gardener' }, /--gardener-config: the provider gardener needs it/],
  [{ 'existing-secret': 'target' }, /--existing-secret: give namespace\/name of a Secret/],
  [{ 'components-elsewhere': 'Kettle' }, /--components-elsewhere: there is no component 'Kettle'; known: APIServer, /],
])('settings it cannot work with are refused: %j', (flags: Record<string, string>, says) => {
  expect(() => namesWith(flags)).toThrow(says);
});
