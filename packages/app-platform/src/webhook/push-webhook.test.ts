import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryLogger, type EventSourceContext, type LogEntry } from '@slipway/runtime';
import { expect, test } from 'vitest';

import { pushPath, pushWebhook } from './push-webhook.ts';

const secret = 'canary-webhook-secret';

async function webhook(content = `${secret}\n`) {
  const folder = await mkdtemp(join(tmpdir(), 'slipway-webhook-'));
  const secretFile = join(folder, 'secret');
  await writeFile(secretFile, content);
  const logs: LogEntry[] = [];
  const counts = { pushes: 0 };
  const end = new AbortController();
  const context = { log: memoryLogger(logs), signal: end.signal } as unknown as EventSourceContext;
  const stop = pushWebhook({ port: 0, secretFile, onPush: () => void (counts.pushes += 1) }).start(
    () => undefined,
    context,
  );
  await expect.poll(() => logs.length, { timeout: 20_000 }).toBeGreaterThan(0);
  const port = logs[0]!.fields['port'] as number;
  return {
    counts,
    logs,
    async call(headers: Record<string, string>, body: string | Buffer = '{}', path = pushPath, method = 'POST') {
      const { promise, resolve, reject } = Promise.withResolvers<number>();
      const sent = request({ port, path, method, headers }, (response) => {
        response.resume();
        resolve(response.statusCode!);
      });
      // The server hangs up on a body that is too large.
      sent.on('error', reject);
      sent.end(body);
      return await promise;
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      stop!();
      await rm(folder, { recursive: true });
    },
  };
}

const hmac = (body: string) => createHmac('sha256', secret).update(body).digest('hex');

test('a call signed as Gitea, Gogs, GitHub or GitLab do makes the poll immediate', async () => {
  await using hook = await webhook();
  const body = '{"ref":"refs/heads/main"}';
  for (const headers of [
    { 'x-gitea-signature': hmac(body) },
    { 'x-gogs-signature': hmac(body) },
    { 'x-hub-signature-256': `sha256=${hmac(body)}` },
    { 'x-gitlab-token': secret },
  ] as Record<string, string>[])
    expect(await hook.call(headers, body)).toBe(202);
  expect(hook.counts.pushes).toBe(4);
});

test('a call with a wrong, foreign or missing signature is refused, and nothing tells the secret', async () => {
  await using hook = await webhook();
  for (const headers of [
    {},
    { 'x-gitea-signature': hmac('another body') },
    { 'x-gitea-signature': '' },
    { 'x-hub-signature-256': `sha1=${hmac('{}')}` },
    { 'x-hub-signature-256': `sha256=${createHmac('sha256', 'other').update('{}').digest('hex')}` },
    { 'x-gitlab-token': `${secret}x` },
    // A wrong token is not made good by a signature.
    { 'x-gitlab-token': 'x', 'x-gitea-signature': hmac('{}') },
  ] as Record<string, string>[])
    expect(await hook.call(headers)).toBe(401);
  expect(hook.counts.pushes).toBe(0);
  expect(JSON.stringify(hook.logs)).not.toContain('canary');
});

test('an empty secret admits nobody', async () => {
  await using hook = await webhook('\n');
  expect(await hook.call({ 'x-gitlab-token': '' })).toBe(401);
  expect(await hook.call({ 'x-gitea-signature': createHmac('sha256', '').update('{}').digest('hex') })).toBe(401);
});

test('other paths and methods are refused, and so is a body without end', async () => {
  await using hook = await webhook();
  expect(await hook.call({ 'x-gitlab-token': secret }, '{}', '//')).toBe(404);
  expect(await hook.call({ 'x-gitlab-token': secret }, '', pushPath, 'GET')).toBe(405);
  const large = await hook.call({ 'x-gitlab-token': secret }, Buffer.alloc(2 * 1024 * 1024)).catch(() => 413);
  expect(large).toBe(413);
  expect(hook.counts.pushes).toBe(0);
});
