import { expect, test } from 'vitest';

import { componentTypes, dependencyFinalizer, externalStatusOf, finalizer, isComponentType } from './component-type.ts';

test('Finalizers: the format is openmcp.cloud.<lowercase component type>', () => {
  expect(componentTypes.map(finalizer)).toEqual([
    'openmcp.cloud.apiserver',
    'openmcp.cloud.authentication',
    'openmcp.cloud.authorization',
    'openmcp.cloud.landscaper',
    'openmcp.cloud.cloudorchestrator',
  ]);
});

test('Finalizers: dependency finalizers have the format dependency.openmcp.cloud/<lowercase component type>', () => {
  expect(dependencyFinalizer('CloudOrchestrator')).toBe('dependency.openmcp.cloud/cloudorchestrator');
});

test('only the names of components are component types', () => {
  expect(isComponentType('APIServer')).toBe(true);
  expect(['apiserver', 'toString', ''].filter(isComponentType)).toEqual([]);
});

test('the customer sees the address of an API server, not how we get at it', () => {
  expect(externalStatusOf('APIServer')).toEqual(['endpoint', 'serviceAccountIssuer']);
  expect(externalStatusOf('Authentication')).toEqual(['access']);
  expect(externalStatusOf('Authorization')).toEqual([]);
});
