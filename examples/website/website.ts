import {
  Conditions,
  type DeepReadonly,
  defineKind,
  Deployment,
  minutes,
  type ObjectOf,
  ready,
  toCustomResourceDefinition,
  Type,
} from '@slipway/kube';
import { controller, requeueAfter, startManager } from '@slipway/runtime';

export const Website = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
  scope: 'Namespaced',
  spec: Type.Object({ image: Type.String(), replicas: Type.Integer({ minimum: 0, default: 1 }) }),
  status: Type.Object({ url: Type.Optional(Type.String()), conditions: Conditions }),
  columns: [{ name: 'Ready', path: '.status.conditions[?(@.type=="Ready")].status' }],
});
type Website = DeepReadonly<ObjectOf<typeof Website>>;

export const websites = controller({
  name: 'website',
  for: Website,
  owns: [Deployment],
  async reconcile({ cache, client, log }, key) {
    const site = await cache.get(Website, key);
    if (!site) return;
    await client.apply(deploymentFor(site), { owner: site });
    const running = (await cache.get(Deployment, key))?.status?.readyReplicas ?? 0;
    const enough = running >= site.spec.replicas;
    await client.setStatus(site, {
      url: `http://${key.name}.${key.namespace}.svc`,
      conditions: [
        enough
          ? ready(true, 'Deployed', `${running} replicas are running`)
          : ready(
              false,
              'Starting',
              `${running} of ${site.spec.replicas} replicas are running; look at the Pods if it stays so`,
            ),
      ],
    });
    log.info('brought the website in line', { running, wanted: site.spec.replicas });
    return requeueAfter(minutes(10));
  },
});

function deploymentFor(site: Website): Deployment {
  const { name = '', namespace } = site.metadata;
  const labels = { 'app.kubernetes.io/name': name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace, labels },
    spec: {
      replicas: site.spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: site.spec.image }] } },
    },
  };
}

// Node 22 does not know yet which module is the main one.
if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  const manager = await startManager({
    controllers: [websites],
    leaderElection: true,
    health: { port: Number(process.env['HEALTH_PORT'] ?? 8081) },
    signals: true,
  });
  await manager.cluster().client.apply(toCustomResourceDefinition(Website));
  await manager.stopped;
}
