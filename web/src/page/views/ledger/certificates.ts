/** What auditors measured of all titles together, and whether she trusts who says so. */

import { el, fill } from "../../controls/dom";
import type { Actions } from "../../model/actions";
import type { Measured, Model } from "../../model/model";
import { texts } from "../../texts";

/** All certificates, or that there is none. */
export function showMeasured(parent: HTMLElement, model: Model, actions: Actions): void {
  fill(parent);
  for (const measured of model.certificates) parent.append(certificate(measured, model, actions));
  if (model.certificates.length === 0) {
    parent.append(
      el(
        "div",
        { class: "measured none" },
        el("h3", {}, texts.gauges.nobody),
        el("p", { class: "small soft" }, texts.gauges.nobodyMore),
      ),
    );
  }
}

/** What a confirmed auditor measured; from anybody else it is a claim, and gets no picture. */
function certificate(measured: Measured, model: Model, actions: Actions): HTMLElement {
  if (!measured.trusted) return claim(measured, actions);
  const two = model.features.length === 1 && model.features[0].categories.length === 2;
  // Below 0.5 the attack is right when its sign is flipped: it leaks as much.
  const leak = Math.max(measured.auc, 1 - measured.auc);
  return el(
    "div",
    { class: "measured" },
    el(
      "div",
      { class: "headline" },
      el("h3", {}, texts.gauges.measured),
      el("p", { class: "auc" }, texts.gauges.auc(figure(measured.auc))),
    ),
    leakBar(measured),
    el(
      "p",
      { class: "small" },
      two ? texts.gauges.pair((leak * 100).toFixed(0)) : texts.gauges.several,
    ),
    el(
      "p",
      { class: "small" },
      texts.gauges.against(measured.adversary, measured.panel, measured.outsiders),
    ),
    measured.named !== undefined &&
      el("p", { class: "small" }, texts.gauges.named((measured.named * 100).toFixed(1))),
    whose(measured, actions),
  );
}

function claim(measured: Measured, actions: Actions): HTMLElement {
  return el(
    "div",
    { class: "measured none" },
    el("h3", {}, texts.gauges.claimed),
    el("p", { class: "small soft" }, texts.gauges.claimedMore),
    whose(measured, actions),
  );
}

/** Whose figure it is, how it was come by, and whether she trusts the key. */
function whose(measured: Measured, actions: Actions): HTMLElement {
  const { low, high, nullLow, nullHigh } = measured;
  return el(
    "details",
    { class: "small" },
    el("summary", {}, texts.gauges.whose(measured.auditor, measured.trusted)),
    el(
      "p",
      { class: "soft" },
      !measured.trusted && `${texts.gauges.claims(figure(measured.auc))} `,
      texts.gauges.attack(measured.attack),
      " ",
      texts.gauges.interval(figure(low), figure(high), figure(nullLow), figure(nullHigh)),
      measured.trusted && ` ${texts.gauges.drawn}`,
    ),
    el("p", { class: "mono" }, grouped(measured.key)),
    !measured.trusted && el("p", {}, texts.gauges.stranger),
    el(
      "button",
      {
        type: "button",
        class: "link",
        on: { click: () => actions.trust(measured.key, !measured.trusted) },
      },
      measured.trusted ? texts.gauges.withdraw : texts.gauges.confirm,
    ),
  );
}

function figure(share: number): string {
  return share.toFixed(2);
}

/** A bar from 0.5 to 1 with the interval, and what shuffled labels give. */
function leakBar(measured: Measured): HTMLElement {
  const at = (share: number) => Math.min(Math.max((share - 0.5) * 200, 0), 100);
  const folded = (low: number, high: number): [number, number] =>
    low >= 0.5 ? [low, high] : [high >= 0.5 ? 0.5 : 1 - high, Math.max(high, 1 - low)];
  const between = (name: string, low: number, high: number) => {
    const bar = el("span", { class: name });
    bar.style.left = `${at(low)}%`;
    bar.style.width = `${Math.max(at(high) - at(low), 0.5)}%`;
    return bar;
  };
  const dot = el("span", { class: "dot" });
  dot.style.left = `${at(Math.max(measured.auc, 1 - measured.auc))}%`;
  const said = texts.gauges.figure(
    figure(measured.auc),
    figure(measured.low),
    figure(measured.high),
  );
  return el(
    "div",
    { role: "img", "aria-label": said },
    el(
      "div",
      { class: "leak" },
      el("span", { class: "axis" }),
      between("null", ...folded(measured.nullLow, measured.nullHigh)),
      between("between", ...folded(measured.low, measured.high)),
      dot,
    ),
    el(
      "p",
      { class: "ends soft" },
      el("span", {}, texts.gauges.blind),
      el("span", {}, texts.gauges.sureEnd),
    ),
  );
}

/** A long hexadecimal text in groups that can be read aloud. */
export function grouped(hex: string, groups = 16): string {
  return (hex.match(/.{1,4}/g) ?? []).slice(0, groups).join(" ");
}
