import { differentialCase as test, get, jsonPatch, mergePatch, patch, poll, post, put, type Json } from '../case.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const boxes = '/apis/limits.example.com/v1/namespaces/{ns}/boxes';

const boxCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boxes.limits.example.com' },
  spec: {
    group: 'limits.example.com',
    scope: 'Namespaced',
    names: { plural: 'boxes', kind: 'Box' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

const box = (name: string, bytes: number, character = 'x') => ({
  apiVersion: 'limits.example.com/v1',
  kind: 'Box',
  metadata: { name },
  text: character.repeat(bytes),
});

/** Without the many bytes themselves, and without the exact size of a message between the real server and etcd. */
const outcome = ({ kind, status, message, reason, code, text }: Json) => ({
  kind,
  status,
  message: message?.replace(/\d+ vs/, 'N vs'),
  reason,
  code,
  length: text?.length,
});

const MiB = 1024 * 1024;

/** How large things may be. */
export const limits = [
  test(
    'objects too large to store',
    post('CRD', crds, boxCrd),
    poll('the kind', boxes, ({ status }) => status === 200),
    post('1.4 MiB', boxes, box('a', 1.4 * MiB), { pick: outcome }),
    post('1.6 MiB', boxes, box('b', 1.6 * MiB), { pick: outcome }),
    post('1.6 MiB of two-byte characters', boxes, box('b', 0.8 * MiB, 'ä'), { pick: outcome }),
    post('dry run of 1.6 MiB', `${boxes}?dryRun=All`, box('b', 1.6 * MiB), { pick: outcome }),
    post('2.2 MiB', boxes, box('b', 2.2 * MiB), { pick: outcome }),
    post('3.1 MiB', boxes, box('b', 3.1 * MiB), { pick: outcome }),
    get('none of them is there', `${boxes}/b`),
    patch('grown by a patch', `${boxes}/a`, mergePatch, { more: 'x'.repeat(0.3 * MiB) }, { pick: outcome }),
    patch('grown by a copy', `${boxes}/a`, jsonPatch, [{ op: 'copy', from: '/text', path: '/again' }], {
      pick: outcome,
    }),
    get('as it was', `${boxes}/a`, { pick: ({ text, more, again }: Json) => ({ length: text.length, more, again }) }),
  ),
  test(
    'built-in objects too large to store',
    post('Role', '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles', role('a', 1.4 * MiB), { pick: outcome }),
    post('larger', '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles', role('b', 1.7 * MiB), { pick: outcome }),
    put('grown', '/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles/a', role('a', 1.7 * MiB), { pick: outcome }),
  ),
];

function role(name: string, bytes: number): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name },
    rules: [{ apiGroups: [''], resources: ['pods'], resourceNames: ['x'.repeat(bytes)], verbs: ['get'] }],
  };
}
