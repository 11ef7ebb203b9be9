import { ConfigMap, type Cache, type Client, type KubeObject } from '@slipway/kube';
import { VirtualClock } from '@slipway/testing';
import { describe, expect, test } from 'vitest';

import { memoryLogger } from '../log/logger.ts';
import { RuntimeMetrics } from '../metrics/runtime-metrics.ts';
import {
  allow,
  conversionWebhook,
  deny,
  invalid,
  mutatingWebhook,
  validatingWebhook,
  type WebhookDefinition,
} from './webhook.ts';
import { WebhookRouter } from './webhook-router.ts';

function routerFor(...definitions: WebhookDefinition[]) {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const metrics = new RuntimeMetrics();
  // The webhooks below ask no cluster.
  const context = { client: {} as Client, cache: {} as Cache, log, clock };
  return { router: new WebhookRouter(definitions, { context, metrics, clock }), log, metrics };
}

const object: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'n' },
  data: { x: '1' },
};

function review(request: Record<string, unknown>): string {
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'u-1', operation: 'CREATE', namespace: 'n', name: 'a', object, ...request },
  });
}

async function responseOf(router: WebhookRouter, path: string, body: string) {
  const { status, body: text } = await router.handle(path, body);
  expect(status).toBe(200);
  return (JSON.parse(text) as { response: Record<string, unknown> }).response;
}

describe('validating webhooks', () => {
  const path = '/validate-core-v1-configmap';
  const validating = (validate: Parameters<typeof validatingWebhook<typeof ConfigMap>>[0]['validate']) =>
    validatingWebhook({ name: 'validate.configmaps.example.com', kind: ConfigMap, validate });

  test('silence is consent', async () => {
    const { router } = routerFor(validating(() => undefined));
    expect(await responseOf(router, path, review({}))).toEqual({ uid: 'u-1', allowed: true });
  });

  test('warnings are passed on', async () => {
    const { router } = routerFor(validating(() => allow('old field')));
    expect(await responseOf(router, path, review({}))).toEqual({ uid: 'u-1', allowed: true, warnings: ['old field'] });
  });

  test('a denial carries its reason', async () => {
    const { router } = routerFor(validating(({ user }) => deny(`not ${user.username}`)));
    expect(await responseOf(router, path, review({ userInfo: { username: 'eve' } }))).toMatchObject({
      allowed: false,
      status: { code: 403, reason: 'Forbidden', message: 'not eve' },
    });
  });

  test('wrong fields are named', async () => {
    const { router } = routerFor(validating(() => invalid([{ field: 'data.x', message: 'must be 2' }])));
    expect(await responseOf(router, path, review({}))).toMatchObject({
      allowed: false,
      status: { code: 422, details: { causes: [{ field: 'data.x', message: 'must be 2' }] } },
    });
  });

  test('a deletion is asked about with the object that would go', async () => {
    let seen: unknown;
    const { router } = routerFor(
      validating(({ object: going, old, operation }) => {
        seen = [operation, going.metadata.name, old?.metadata.name];
      }),
    );
    await responseOf(router, path, review({ operation: 'DELETE', object: null, oldObject: object }));
    expect(seen).toEqual(['DELETE', 'a', 'a']);
  });

  test('what is thrown is an internal error, logged with the webhook and the request', async () => {
    const { router, log } = routerFor(
      validating(() => {
        throw new Error('boom');
      }),
    );
    expect(await responseOf(router, path, review({}))).toMatchObject({
      allowed: false,
      status: { code: 500, message: 'boom' },
    });
    expect(log.entries[0]).toMatchObject({
      level: 'error',
      fields: { webhook: 'validate.configmaps.example.com', requestID: 'u-1' },
    });
  });

  test('bad requests are refused and counted', async () => {
    const { router, metrics } = routerFor(validating(() => undefined));
    expect(await router.handle(path, '{')).toMatchObject({ status: 400 });
    expect(await router.handle(path, 'null')).toMatchObject({ status: 400 });
    expect(
      await router.handle(path, JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1beta1' })),
    ).toMatchObject({ status: 400 });
    expect(await router.handle('/nowhere', review({}))).toMatchObject({ status: 404 });
    expect(await metrics.registry.metrics()).toContain(
      `controller_runtime_webhook_requests_total{webhook="${path}",code="400"} 3`,
    );
  });
});

describe('mutating webhooks', () => {
  const path = '/mutate-core-v1-configmap';
  const patchOf = (response: Record<string, unknown>): unknown =>
    JSON.parse(Buffer.from(String(response['patch']), 'base64').toString());

  test('changes made in place become a patch', async () => {
    const { router } = routerFor(
      mutatingWebhook({
        name: 'mutate.configmaps.example.com',
        kind: ConfigMap,
        mutate({ object: map }) {
          map.data = { ...map.data, y: '2' };
          map.metadata.labels = { touched: 'yes' };
        },
      }),
    );
    const response = await responseOf(router, path, review({}));
    expect(response).toMatchObject({ allowed: true, patchType: 'JSONPatch' });
    expect(patchOf(response)).toEqual([
      { op: 'add', path: '/metadata/labels', value: { touched: 'yes' } },
      { op: 'add', path: '/data/y', value: '2' },
    ]);
  });

  test('no change, no patch', async () => {
    const { router } = routerFor(
      mutatingWebhook({
        name: 'mutate.configmaps.example.com',
        kind: ConfigMap,
        mutate: ({ object: map }) => ({ ...map }),
      }),
    );
    expect(await responseOf(router, path, review({}))).toEqual({ uid: 'u-1', allowed: true });
  });

  test('it may refuse', async () => {
    const { router } = routerFor(
      mutatingWebhook({ name: 'mutate.configmaps.example.com', kind: ConfigMap, mutate: () => deny('no') }),
    );
    expect(await responseOf(router, path, review({}))).toMatchObject({ allowed: false, status: { message: 'no' } });
  });
});

describe('conversion webhooks', () => {
  const conversion = conversionWebhook({
    group: 'example.com',
    kind: 'Website',
    plural: 'websites',
    convert: (from, apiVersion) => ({ ...from, apiVersion: from['broken'] ? 'example.com/v9' : apiVersion }),
  });
  const convert = (objects: unknown[]): string =>
    JSON.stringify({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      request: { uid: 'c-1', desiredAPIVersion: 'example.com/v2', objects },
    });
  const site = { apiVersion: 'example.com/v1', kind: 'Website', metadata: { name: 'a' } };

  test('objects come back in the wanted version', async () => {
    const { router } = routerFor(conversion);
    expect(await responseOf(router, '/convert-example-com-website', convert([site]))).toEqual({
      uid: 'c-1',
      convertedObjects: [{ ...site, apiVersion: 'example.com/v2' }],
      result: { status: 'Success' },
    });
  });

  test('a converter that returns another version fails clearly', async () => {
    const { router } = routerFor(conversion);
    const broken = { ...site, broken: true };
    expect(await responseOf(router, '/convert-example-com-website', convert([broken]))).toMatchObject({
      convertedObjects: [],
      result: { status: 'Failure', message: 'convert returned example.com/v9 instead of example.com/v2' },
    });
  });
});

test('two webhooks at one path are refused', () => {
  const twin = validatingWebhook({
    name: 'validate.configmaps.example.com',
    kind: ConfigMap,
    validate: () => undefined,
  });
  expect(() => routerFor(twin, twin)).toThrow('two of them have the path /validate-core-v1-configmap');
});

test('a name without a domain is refused', () => {
  expect(() => validatingWebhook({ name: 'website', kind: ConfigMap, validate: () => undefined })).toThrow(
    "webhook 'website': the name needs at least three parts",
  );
});
