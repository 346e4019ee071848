/** The address of a caller: as a key, and behind proxies. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientOf, networkOf, trustOf } from './address.ts'

const proxies = trustOf(['10.0.0.0/8', '192.0.2.7', '2001:db8:ffff::/48', '::ffff:198.51.100.1'])

const client = (peer: string, forwarded?: string) => clientOf(peer, () => forwarded, proxies)

test('an IPv4 address is its own network', () => {
  assert.equal(networkOf('203.0.113.9'), '203.0.113.9')
})

test('the IPv6 addresses of one /64 are one network, in any spelling', () => {
  for (const address of ['2001:db8::1', '2001:DB8:0:0:ffff::', '2001:0db8:0000::1.2.3.4'])
    assert.equal(networkOf(address), '2001:db8:0:0::/64')
  assert.equal(networkOf('2001:db8:0:1::1'), '2001:db8:0:1::/64')
  assert.equal(networkOf('::1'), '0:0:0:0::/64')
  assert.equal(networkOf('::'), '0:0:0:0::/64')
})

test('an IPv4 address that is mapped into IPv6 is the IPv4 one [H15]', () => {
  for (const address of ['::ffff:203.0.113.9', '::FFFF:cb00:7109', '0:0:0:0:0:ffff:cb00:7109'])
    assert.equal(client(address), '203.0.113.9')
  assert.equal(client('::fffe:203.0.113.9'), '::fffe:203.0.113.9')
})

test('a zone is no part of an address', () => {
  assert.equal(client('fe80::1%eth0'), 'fe80::1')
})

test('X-Forwarded-For from a peer that is no trusted proxy is not looked at [G22, H15]', () => {
  assert.equal(client('203.0.113.9', '198.51.100.4'), '203.0.113.9')
  assert.equal(client('2001:db8:1::1', '198.51.100.4'), '2001:db8:1::1')
  assert.equal(
    clientOf('10.0.0.1', () => assert.fail('read'), trustOf([])),
    '10.0.0.1',
  )
})

test('a trusted proxy is believed about the client of its request', () => {
  for (const peer of [
    '10.0.0.1',
    '::ffff:10.0.0.1',
    '192.0.2.7',
    '2001:db8:ffff::9',
    '198.51.100.1',
  ])
    assert.equal(client(peer, '203.0.113.9'), '203.0.113.9', peer)
  assert.equal(client('192.0.2.8', '203.0.113.9'), '192.0.2.8')
})

test('the port of a client is no part of its address', () => {
  for (const spelled of ['203.0.113.9:51234', '[::ffff:203.0.113.9]:80', '[::ffff:203.0.113.9]'])
    assert.equal(client('10.0.0.1', `1.1.1.1, ${spelled}`), '203.0.113.9', spelled)
})

test('addresses that a caller wrote itself do not count [H15]', () => {
  assert.equal(client('10.0.0.1', '1.1.1.1, 203.0.113.9'), '203.0.113.9')
  assert.equal(client('10.0.0.1', '10.0.0.2, 1.1.1.1,203.0.113.9 , 10.0.0.3'), '203.0.113.9')
  assert.equal(client('10.0.0.1', '1.1.1.1, ::ffff:203.0.113.9'), '203.0.113.9')
  assert.equal(client('10.0.0.1', '1.1.1.1, 2001:db8:1::5'), '2001:db8:1::5')
})

test('a list of nothing but trusted proxies leads to the first of them', () => {
  assert.equal(client('10.0.0.1', '10.0.0.3, 10.0.0.2'), '10.0.0.3')
  assert.equal(client('10.0.0.1'), '10.0.0.1')
})

test('a text that is no address ends the search for the client', () => {
  for (const garbage of ['', 'unknown', '_hidden', '1.1.1', '01.1.1.1', '1.1.1.1:x', '[1', 'x'])
    assert.equal(client('10.0.0.1', `203.0.113.9, ${garbage}, 10.0.0.2`), '10.0.0.2', garbage)
  assert.equal(client('10.0.0.1', 'garbage'), '10.0.0.1')
  assert.equal(client('10.0.0.1', ','.repeat(5000)), '10.0.0.1')
})

test('a network of all addresses trusts all of its family', () => {
  const all = trustOf(['0.0.0.0/0'])
  assert.equal(all('203.0.113.9'), true)
  assert.equal(all('2001:db8::1'), false)
})
