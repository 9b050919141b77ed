//! The headers with which OSProfiler passes a trace to the next service.

use hmac::{Hmac, Mac};
use sha1::Sha1;

use super::read::uuid;
use crate::error::{Error, ErrorKind, Result};
use crate::format::json::lexer::Lexer;
use crate::model::dictionary::Link;
use crate::wire::base64::from_base64;
use crate::wire::hex::hex_bytes;

/// The headers with which OSProfiler passes a trace to the next service: `X-Trace-Info`, and `X-Trace-HMAC`,
/// which signs it with a key that both services know.
///
/// A profiler within a service creates a [`Link`] from them, so that its samples refer to the spans that
/// OSProfiler exports.
///
/// ```
/// use otlp_profiles::format::OsProfilerHeaders;
///
/// let headers = OsProfilerHeaders {
///     info: "eyJiYXNlX2lkIjogIjRlM2UwZWM2LTI5MzgtNDBiMS04NTA0LTA5ZWIxZDRiMGRlZSIsICJwYXJlbnRfaWQiOiAiNTBmZTRmNmEtZmE1Yy00OWRiLWE4ZGQtYjU2MzZmNmZhZjBmIn0=",
///     hmac: "64b5a0bcc36e221aed2e5ac3b750936ba8be1765",
/// };
/// let link = headers.link(&["SECRET_KEY"])?;
/// assert_eq!(link.span_id, 0xa8dd_b563_6f6f_af0f_u64.to_be_bytes());
/// assert!(headers.link(&["another key"]).is_err());
/// # Ok::<(), otlp_profiles::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OsProfilerHeaders<'a> {
    /// `X-Trace-Info`: JSON in URL-safe base64.
    pub info: &'a str,
    /// `X-Trace-HMAC`: the HMAC-SHA1 of the info, in hexadecimal.
    pub hmac: &'a str,
}

impl OsProfilerHeaders<'_> {
    /// Verifies the signature with each key, and returns the calling span.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Malformed`] if no key matches the signature, or a header or an id is missing or invalid.
    pub fn link(&self, keys: &[&str]) -> Result<Link> {
        let refused = |why: &str| Error::malformed(format!("the headers were rejected: {why}"));
        let hmac = self.hmac.trim();
        if self.info.is_empty() || hmac.is_empty() || keys.is_empty() {
            return Err(refused("the data, its signature or the keys are missing"));
        }
        // Try every key and compare all bytes, so that the time reveals nothing about the keys.
        let hmac = hex_bytes(hmac).ok_or_else(|| refused("the signature is not hexadecimal"))?;
        let is_signed = keys.iter().fold(false, |signed, key| {
            let of_key = Hmac::<Sha1>::new_from_slice(key.as_bytes());
            let of_info = of_key.map(|of_key| of_key.chain_update(self.info));
            signed | of_info.is_ok_and(|digest| digest.verify_slice(&hmac).is_ok())
        });
        if !is_signed {
            return Err(refused("none of the keys matches the signature"));
        }
        let mut json = Vec::new();
        from_base64(self.info, &mut json).ok_or_else(|| refused("the data is not base64"))?;
        let (base_id, parent_id) = ids(&json).map_err(|error| refused(error.message()))?;
        let trace_id = uuid(&base_id).ok_or_else(|| refused("base_id is not a UUID"))?;
        let parent = uuid(&parent_id).ok_or_else(|| refused("parent_id is not a UUID"))?;
        let [.., a, b, c, d, e, f, g, h] = parent;
        Ok(Link { trace_id, span_id: [a, b, c, d, e, f, g, h] })
    }
}

impl Link {
    /// Returns the span that sent a request of OpenStack: see [`OsProfilerHeaders`].
    ///
    /// ```
    /// use otlp_profiles::model::Link;
    ///
    /// let error = Link::from_osprofiler_headers("e30=", "no signature", &["SECRET_KEY"]).unwrap_err();
    /// println!("the request is not traced: {error}");
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`OsProfilerHeaders::link`].
    pub fn from_osprofiler_headers(info: &str, hmac: &str, keys: &[&str]) -> Result<Self> {
        OsProfilerHeaders { info, hmac }.link(keys)
    }
}

/// Returns `base_id`, and `parent_id` with `base_id` as default. The only other valid key is `hmac_key`.
fn ids(json: &[u8]) -> Result<(String, String)> {
    let mut text = Lexer::new(json)?;
    let (mut base_id, mut parent_id, mut has_key, mut first) = (None, None, true, true);
    text.open(b'{', "an object")?;
    while let Some(key) = text.key(&mut first)? {
        match &*key {
            "base_id" => base_id = Some(text.string("an id")?.into_owned()),
            "parent_id" => parent_id = Some(text.string("an id")?.into_owned()),
            "hmac_key" => {
                text.string("a key")?;
            }
            _ => has_key = false,
        }
        if !has_key {
            let message = format!("the key {key:?} is not allowed");
            return Err(Error::new(ErrorKind::Malformed, message));
        }
    }
    text.end()?;
    let base_id = base_id.ok_or_else(|| Error::malformed("base_id is missing"))?;
    let parent_id = parent_id.unwrap_or_else(|| base_id.clone());
    Ok((base_id, parent_id))
}
