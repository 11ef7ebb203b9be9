import { expect, test } from 'vitest';
import { builtinRegistry } from '../builtin-registry.ts';
import { permissiveAuth } from '../auth/auth.ts';
import { systemRandom } from '../random.ts';
import { VirtualClock } from '../virtual-clock.ts';
import type { AdmissionContext } from './admission.ts';
import { WebhookClient } from './webhook-client.ts';
import { webhookAdmission } from './webhooks.ts';

test('a webhook stored in older times, with side effects, refuses dry runs', async () => {
  const registry = builtinRegistry();
  const configuration = {
    metadata: { name: 'old' },
    webhooks: [
      {
        name: 'a.example.com',
        clientConfig: { url: 'https://127.0.0.1:1/never-called' },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] }],
        sideEffects: 'Some',
      },
    ],
  };
  const admission = webhookAdmission({
    objects: {
      lookup: () => undefined,
      *scan(storageId) {
        if (storageId === 'validatingwebhookconfigurations.admissionregistration.k8s.io') {
          yield configuration;
        }
      },
    },
    registry,
    random: systemRandom,
    client: new WebhookClient({ clock: new VirtualClock() }),
    authorizer: permissiveAuth.authorizer,
  });
  const context: AdmissionContext = {
    operation: 'CREATE',
    resource: registry.byPath('', 'v1', 'configmaps')!,
    subresource: '',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    namespace: '',
    name: 'x',
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } },
    oldObject: undefined,
    options: {},
    dryRun: true,
    user: { name: 'admin', groups: [] },
    warn: () => undefined,
  };
  await expect(admission.validate(context)).rejects.toMatchObject({
    status: { code: 400, message: 'admission webhook "a.example.com" does not support dry run' },
  });
});
