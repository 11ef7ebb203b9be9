import { expect, test } from 'vitest';

import type { ReadonlyComponent } from './component-resource.ts';
import {
  createdFromOrNone,
  generateCreatedFromGenerationPatch,
  getCreatedFromGeneration,
} from './created-from-generation.ts';

function labelled(labels: Record<string, string>): ReadonlyComponent {
  return { apiVersion: 'core.openmcp.cloud/v1alpha1', kind: 'APIServer', metadata: { name: 'demo', labels } };
}

test('the labels say from which generations a component was made', () => {
  expect(getCreatedFromGeneration(labelled({ 'openmcp.cloud/mcp-generation': '3' }))).toEqual({
    managedControlPlane: 3,
    internalConfiguration: -1,
  });
  expect(
    getCreatedFromGeneration(labelled({ 'openmcp.cloud/mcp-generation': '3', 'openmcp.cloud/ic-generation': '2' })),
  ).toEqual({ managedControlPlane: 3, internalConfiguration: 2 });
});

const wrong: readonly (readonly [labels: Record<string, string>, message: string])[] = [
  [{}, "object does not have a 'openmcp.cloud/mcp-generation' label"],
  [
    { 'openmcp.cloud/mcp-generation': 'x' },
    "value 'x' of label 'openmcp.cloud/mcp-generation' cannot be parsed into an int64",
  ],
  [
    { 'openmcp.cloud/mcp-generation': '1', 'openmcp.cloud/ic-generation': '' },
    "value '' of label 'openmcp.cloud/ic-generation' cannot be parsed into an int64",
  ],
];

test.each(wrong)('labels that say nothing are an error with a reason: %j', (labels, message) => {
  expect(() => getCreatedFromGeneration(labelled(labels))).toThrow(
    expect.objectContaining({ reason: 'InvalidManagedControlPlaneLabels', message }),
  );
  expect(createdFromOrNone(labelled(labels))).toEqual({ managedControlPlane: -1, internalConfiguration: -1 });
});

test('the patch removes the label of an InternalConfiguration that is gone, and asks for a reconciliation when forced', () => {
  const none = { managedControlPlane: 4, internalConfiguration: -1 };
  const labels = { 'openmcp.cloud/mcp-generation': '4', 'openmcp.cloud/ic-generation': null };
  expect(generateCreatedFromGenerationPatch(none, false)).toEqual({ metadata: { labels } });
  expect(generateCreatedFromGenerationPatch(none, true)).toEqual({
    metadata: { labels, annotations: { 'openmcp.cloud/operation': 'reconcile' } },
  });
});
