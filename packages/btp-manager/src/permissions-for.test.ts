import { mkdtemp, cp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PolicyRule } from '@slipway/kube';
import { entriesOf } from '@slipway/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { btpManager } from './operator.ts';
import { permissionsForFolder } from './permissions-for.ts';
import { manifestsDir } from './manifests-dir.ts';

/** What the rules give, with the names they give it for. */
const namedEntriesOf = (rules: readonly PolicyRule[]) =>
  new Set(
    rules.flatMap((rule) =>
      (rule.resourceNames ?? ['']).flatMap((name) => entriesOf([rule]).map((entry) => `${entry} ${name}`.trim())),
    ),
  );

describe('the permissions for a set', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'btp-role-'));
    await cp(manifestsDir, folder, { recursive: true });
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('for the shipped set they are the ones the operator declares', async () => {
    expect(namedEntriesOf(await permissionsForFolder(folder))).toEqual(namedEntriesOf(btpManager.permissions));
  });

  test('kinds of the set, kinds of earlier sets, what its roles hand on and roles it binds come on top', async () => {
    const before = namedEntriesOf(await permissionsForFolder(folder));
    await writeFile(
      join(folder, 'module-resources', 'apply', 'own.yml'),
      `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: geese.example.com }
spec: { group: example.com, scope: Namespaced, names: { kind: Goose, plural: geese }, versions: [] }
---
apiVersion: example.com/v1
kind: Goose
metadata: { name: grey }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: keeper }
rules: [{ apiGroups: [example.com], resources: [geese], resourceNames: [grey], verbs: [feed] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: viewer }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }
subjects: []
`,
    );
    await writeFile(
      join(folder, 'module-resources', 'delete', 'to-delete.yml'),
      'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: old}\n',
    );
    const added = namedEntriesOf(await permissionsForFolder(folder)).difference(before);
    expect([...added].sort()).toEqual([
      'bind clusterroles.rbac.authorization.k8s.io view',
      'create geese.example.com',
      'delete poddisruptionbudgets.policy',
      'deletecollection geese.example.com',
      'deletecollection poddisruptionbudgets.policy',
      'feed geese.example.com grey',
      'get geese.example.com',
      'get poddisruptionbudgets.policy',
      'list geese.example.com',
      'list poddisruptionbudgets.policy',
      'patch geese.example.com',
      'watch geese.example.com',
    ]);
  });

  test('a folder that is none is named', async () => {
    await expect(permissionsForFolder(join(folder, 'nowhere'))).rejects.toThrow(join(folder, 'nowhere'));
  });
});
