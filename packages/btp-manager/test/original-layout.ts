import { mkdtemp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '@slipway/kube';
import { parseManifests } from '@slipway/manifests';
import { stringify } from 'yaml';

import { manifestsDir } from '../src/manifests-dir.ts';

/** What the original's generated files hold that ours do not: empty images, numbers for text, namespaces where there are none, hooks apart. */
function asGenerated(object: KubeObject): KubeObject {
  const copy = structuredClone(object) as KubeObject & {
    spec?: {
      template?: { spec?: { containers?: { image?: string; resources?: { limits?: Record<string, unknown> } }[] } };
    };
  };
  if (copy.kind === 'ClusterRole') copy.metadata = { ...copy.metadata, creationTimestamp: null as never };
  if (copy.kind === 'ClusterRoleBinding') copy.metadata.namespace = 'kyma-system';
  for (const container of copy.spec?.template?.spec?.containers ?? []) {
    container.image = '';
    if (container.resources?.limits) container.resources.limits['cpu'] = 1;
  }
  return copy;
}

/** Which of the original's files a kind stands in. */
const files: Readonly<Record<string, string>> = {
  ConfigMap: 'configmap.yml',
  CustomResourceDefinition: 'crd.yml',
  Deployment: 'deployment.yml',
  Secret: 'secret.yml',
  Service: 'service.yml',
  ServiceAccount: 'service_account.yaml',
  MutatingWebhookConfiguration: 'webhook.yml',
  ValidatingWebhookConfiguration: 'webhook.yml',
};

/** The shipped objects in a folder of the shape of the original's repository. Dispose of it. */
export async function originalLayout(): Promise<{ folder: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'btp-original-'));
  const into = async (path: string, text: string) => {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  const read = async (path: string) => {
    const names = (await readdir(join(manifestsDir, path))).sort();
    const texts = await Promise.all(names.map((name) => readFile(join(manifestsDir, path, name), 'utf8')));
    return texts.flatMap((text) => parseManifests(text) as KubeObject[]);
  };
  const write = (objects: readonly KubeObject[]) =>
    objects
      .map((object) => `---\n# Source: sap-btp-operator/templates/x.yml\n${stringify(asGenerated(object))}`)
      .join('');
  const grouped = Map.groupBy(await read('module-resources/apply'), ({ kind }) => files[kind] ?? 'rbac.yml');
  for (const [file, objects] of grouped) await into(`module-resources/apply/${file}`, write(objects));
  await into('module-resources/delete/to-delete.yml', '');
  const hook = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'pre-delete', namespace: 'kyma-system' } };
  await into('module-resources/excluded/to-exclude.yml', stringify(hook));
  await into('module-chart/chart/Chart.yaml', 'apiVersion: v2\nname: sap-btp-operator\nversion: v0.11.10\n');
  await into('module-chart/chart/templates/deployment.yml', '{{- if .Values.x }}\n{{- end }}\n');
  const policies = await read('manager-resources/network-policies');
  await into('manager-resources/network-policies/network-policies.yaml', write(policies));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
