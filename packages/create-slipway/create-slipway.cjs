#!/usr/bin/env node
'use strict';

void import('@slipway/scaffold/main');
