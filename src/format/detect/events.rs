//! The grammar of timestamped events, a proposal (opentelemetry-proto 594) that was never released.
//!
//! Its profile has other fields than OTLP's (`src/schema/events.rs`) and stands alone. [`contained`] is
//! there to name what the proposal does not have: such profiles inside an export request.

use super::generations::{derived, envelope};
use super::grammar::{Grammar, Holds, Message};
use crate::schema::{EVENT_PROFILE, Version};

/// A profile of events, which stands alone.
pub(super) fn bare() -> Grammar {
    let mut grammar = derived("events", Message::Profile, Version::Events);
    settle(&mut grammar);
    grammar
}

/// Such profiles where other profiles are, which nobody is known to write.
pub(super) fn contained() -> Grammar {
    let mut grammar = envelope("events");
    let bare = bare();
    for message in Message::ALL {
        for (number, field) in bare.fields(message) {
            grammar.add(message, number, field.name, field.key, field.holds);
        }
    }
    let profiles = Holds::Many(Message::Profile);
    grammar.add(Message::ScopeProfiles, 2, "profiles", "profiles", profiles);
    settle(&mut grammar);
    grammar
}

/// A profile has a type and the texts of its names.
fn settle(grammar: &mut Grammar) {
    grammar.rows = crate::format::otlp::schema::Rows::of(Version::Events);
    grammar.series = false;
    for key in ["event_types", "strings"] {
        grammar.require(Message::Profile, EVENT_PROFILE.number(Version::Events, key));
    }
}
