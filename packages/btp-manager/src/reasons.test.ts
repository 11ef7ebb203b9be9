import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toCustomResourceDefinition } from '@slipway/kube';
import { expect, test } from 'vitest';

import { BtpOperator } from './api.ts';
import { reasons, type ReasonRow } from './reasons.ts';
import { settingRows } from './settings/settings.ts';

test('all thirty rows are there, once', () => {
  const rows = Object.values<ReasonRow>(reasons).flatMap(({ row }) => (row === undefined ? [] : [row]));
  expect(rows).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
});

test('only the Ready state has a true Ready condition', () => {
  for (const { state, ready } of Object.values<ReasonRow>(reasons)) expect(ready).toBe(state === 'Ready');
});

test('the CRD is that of the original plus a few optional status fields', () => {
  const crd = toCustomResourceDefinition(BtpOperator);
  expect(crd.metadata.name).toBe('btpoperators.operator.kyma-project.io');
  expect(crd.spec).toMatchObject({
    scope: 'Namespaced',
    names: {
      kind: 'BtpOperator',
      listKind: 'BtpOperatorList',
      plural: 'btpoperators',
      singular: 'btpoperator',
      categories: ['kyma-modules', 'kyma-btp-operator'],
    },
  });
  expect(crd.spec.names.shortNames).toBeUndefined();
  const [version, ...others] = crd.spec.versions;
  expect(others).toEqual([]);
  expect(version).toMatchObject({ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } });
  expect(version!.additionalPrinterColumns).toEqual([{ name: 'State', type: 'string', jsonPath: '.status.state' }]);
  const { spec, status } = version!.schema!.openAPIV3Schema!.properties!;
  expect(spec).toMatchObject({ type: 'object', nullable: true });
  expect(spec!.properties).toBeUndefined();
  expect(version!.schema!.openAPIV3Schema!.required ?? []).not.toContain('spec');
  expect(status).toMatchObject({
    type: 'object',
    required: ['state'],
    properties: { state: { enum: ['Processing', 'Deleting', 'Ready', 'Error', 'Warning'] } },
  });
  expect(status!.properties!['conditions']).not.toHaveProperty('x-kubernetes-list-type');
});

test('the page of the operator explains every reason', async () => {
  const page = await readFile(join(import.meta.dirname, '..', '..', '..', 'docs', 'btp-manager.md'), 'utf8');
  for (const [reason, { state, meaning, action }] of Object.entries<ReasonRow>(reasons))
    expect(page).toContain(`| ${state} | \`${reason}\` | ${meaning} | ${action} |`);
});

test('the page of the operator lists every setting', async () => {
  const page = await readFile(join(import.meta.dirname, '..', '..', '..', 'docs', 'btp-manager.md'), 'utf8');
  for (const { key, flag, description } of settingRows) {
    expect(page).toContain(`| \`${key}\` | ${flag ? `\`--${flag}\`` : ''} |`);
    expect(page).toContain(` | ${description} |`);
  }
});
