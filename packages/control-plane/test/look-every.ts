import { onReference } from '@slipway/testing';

/** How often operators of tests look at what they handed over: half a minute costs nothing on virtual time, and half a minute on the time of the machine. */
export const lookEveryMs = onReference ? 250 : undefined;
